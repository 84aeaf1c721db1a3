/* Nain Jaune as a native environment of PufferLib 3: one seat learns, a heuristic of the library plays the others (README.md). */
#include <stdlib.h>
#include <string.h>

#include "nain_jaune.h"

#define MAX_SEATS 8
#define MAX_DEALS 1000

/* Sums over the episodes that have ended; PufferLib divides them by n. All must be floats. */
typedef struct {
    float episode_return;
    float episode_length;
    float illegal;
    float n;
} Log;

typedef struct {
    unsigned char *observations; /* PufferLib's: what the learner observes, then its legal actions, 1 = legal */
    int *actions;
    float *rewards;
    unsigned char *terminals;
    Log log;
    nain_jaune_batch batch; /* of one table */
    nain_jaune_table table;
    int64_t numbers[NAIN_JAUNE_NUMBERS], legal, deals;
    int32_t reward[MAX_SEATS], credited[MAX_SEATS], scratch[MAX_SEATS];
    uint8_t done;
    int seats, learner, opponent, length;
    uint64_t stream; /* of the opponents' actions, where they are random */
    float reward_scale, illegal_reward, episode_return;
} NainJaune;

/* Packs the rules; returns the result of `nain_jaune_pack`. Observations must have `size` bytes and one for each action. */
static int init(NainJaune *env, const int64_t *knobs, int seats, int size)
{
    static nain_jaune_session session; /* 4 MB, for its numbers alone */
    memset(session.numbers, 0, sizeof session.numbers);
    memcpy(session.knobs, knobs, sizeof session.knobs);
    session.numbers[NAIN_JAUNE_OPTION_SKIP_FORCED] = 1; /* a round each, observed where the learner is to act */
    int refusal = nain_jaune_pack(&session, seats);
    memcpy(env->numbers, session.numbers, sizeof env->numbers);
    env->batch = (nain_jaune_batch){1, env->numbers, &env->table, NULL, &env->legal, env->observations, env->observations + size,
                                    env->reward, env->credited, &env->deals, &env->done, env->scratch};
    env->seats = seats;
    return refusal;
}

/* Plays the others up to the learner's next decision, or the end; returns what the learner has gained. */
static int play_on(NainJaune *env)
{
    int gained = env->reward[env->learner];
    while (!env->done && env->table.seat != env->learner) {
        int32_t action;
        nain_jaune_decide_tables(&env->batch, env->opponent, &env->stream, NULL, &action);
        nain_jaune_step_tables(&env->batch, &action);
        gained += env->reward[env->learner];
    }
    return gained;
}

/* Deals rounds from the table's generator until one has a decision of the learner, whose seat moves on with each. */
static void deal(NainJaune *env)
{
    uint64_t state;
    int deals = 0;
    env->episode_return = 0;
    env->length = 0;
    do {
        state = env->table.rng;
        env->learner = (env->learner + 1) % env->seats;
        nain_jaune_reset_tables(&env->batch, &state);
        env->episode_return = (float)play_on(env); /* antes and payments before the first decision */
    } while (env->done && ++deals < MAX_DEALS);
    nain_jaune_observe_tables(&env->batch);
}

static void end_episode(NainJaune *env)
{
    env->terminals[0] = 1;
    env->log.episode_return += env->episode_return;
    env->log.episode_length += (float)env->length;
    env->log.n += 1;
    deal(env);
}

void c_reset(NainJaune *env)
{
    env->table.rng = (uint64_t)rand() << 32 ^ (uint64_t)rand();
    env->stream = env->table.rng ^ UINT64_C(0x9E3779B97F4A7C15);
    env->learner = rand() % env->seats;
    env->rewards[0] = 0;
    env->terminals[0] = 0;
    deal(env);
}

void c_step(NainJaune *env)
{
    int32_t action = env->actions[0];
    float before = env->length ? 0 : env->episode_return;
    env->terminals[0] = 0;
    env->length += 1;
    if (nain_jaune_step_tables(&env->batch, &action) != NAIN_JAUNE_DONE) {
        env->rewards[0] = env->illegal_reward;
        env->log.illegal += 1;
        end_episode(env);
        return;
    }
    float gained = (float)play_on(env);
    env->episode_return += gained;
    env->rewards[0] = (gained + before) * env->reward_scale;
    if (env->done)
        end_episode(env);
    else
        nain_jaune_observe_tables(&env->batch);
}

void c_render(NainJaune *env)
{
    (void)env; /* PufferLib's games draw with raylib; `nainjaune watch` and `serve` draw this one */
}

void c_close(NainJaune *env)
{
    (void)env; /* nothing was allocated */
}
