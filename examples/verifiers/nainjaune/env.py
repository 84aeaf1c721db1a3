"""``RoundEnv``: one model plays one round, turn by turn."""

from __future__ import annotations

import verifiers.v1 as vf

from nainjaune_env.records.record import format_record

from .taskset import RoundTask, answers


class RoundEnvConfig(vf.SingleAgentEnvConfig):
    """The model is ``agent``; nothing that it says is executed, so it needs no sandbox."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class RoundEnv(vf.SingleAgentEnv, vf.Env[RoundEnvConfig]):
    """One round is one conversation. Its record, as one line of text, is ``info["record"]`` of the trace."""

    async def run(self, task: RoundTask, agents: vf.Agents) -> None:
        """Plays the round of ``task``.

        Where a limit of verifiers (turns, tokens, time) stops the model, the moves that are left are forfeited. An endpoint that
        fails is no fault of the model: the round has no reward then, and verifiers plays it again when the run is resumed.
        """
        round = task.dealt()
        async with agents.agent.interaction(task) as interaction:
            while not round.done:
                segment = await interaction.turn(round.messages[-1]["content"])
                if segment.terminated:
                    break
                text, is_cut = answers(interaction.trace)[-1]
                round.answer(text, is_cut=is_cut)
            if not interaction.trace.errors:
                round.give_up()
                interaction.trace.info["record"] = format_record(round.record())
