/* Plays rounds of Nain Jaune uniformly at random at 64 tables, and prints a checksum of all that happened (README.md).
 *
 *     play PRESET SEATS ROUNDS [KNOB=NUMBER ...]      all numbers; nain_jaune.h lists presets, knobs and what their numbers mean
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "nain_jaune.h"

#define TABLES 64
#define MAX_SEATS 8

/* SplitMix64, the generator of the library's own tables too. */
static uint64_t next_word(uint64_t *state)
{
    uint64_t word = *state += UINT64_C(0x9E3779B97F4A7C15);
    word = (word ^ (word >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94D049BB133111EB);
    return word ^ (word >> 31);
}

/* A uniformly random one of the set bits of `legal`; as `Batch.sample` chooses. */
static int32_t random_action(int64_t legal, uint64_t *state)
{
    uint64_t bits = (uint64_t)legal, rest = bits, skip = 0;
    int32_t count = 0, action = 0;
    for (; rest; rest &= rest - 1)
        count++;
    if (count > 1)
        skip = (next_word(state) >> 32) * (uint64_t)count >> 32;
    for (; skip > 0; skip--)
        bits &= bits - 1;
    while (!(bits >> action & 1))
        action++;
    return action;
}

/* CRC-32, as zlib has it. */
static uint32_t checksum(uint32_t crc, const void *bytes, size_t size)
{
    static uint32_t table[256];
    const unsigned char *byte = (const unsigned char *)bytes;
    if (!table[1])
        for (uint32_t n = 0; n < 256; n++) {
            table[n] = n;
            for (int bit = 0; bit < 8; bit++)
                table[n] = table[n] >> 1 ^ (table[n] & 1 ? UINT32_C(0xEDB88320) : 0);
        }
    crc = ~crc;
    for (size_t i = 0; i < size; i++)
        crc = crc >> 8 ^ table[(crc ^ byte[i]) & 255];
    return ~crc;
}

/* Packs the rules of the arguments into `session`; says why and ends the program where they are refused. */
static void pack_rules(nain_jaune_session *session, int preset, int seats, int argc, char **argv)
{
    if (preset < 0 || preset >= NAIN_JAUNE_PRESETS) {
        fprintf(stderr, "Presets are 0 to %d, not %d.\n", NAIN_JAUNE_PRESETS - 1, preset);
        exit(2);
    }
    for (int knob = 0; knob < NAIN_JAUNE_KNOBS; knob++)
        session->knobs[knob] = nain_jaune_presets[preset][knob];
    for (int i = 4; i < argc; i++) {
        int knob;
        long number;
        if (sscanf(argv[i], "%d=%ld", &knob, &number) != 2 || knob < 0 || knob >= NAIN_JAUNE_KNOBS) {
            fprintf(stderr, "Expected KNOB=NUMBER with a knob from 0 to %d, not %s.\n", NAIN_JAUNE_KNOBS - 1, argv[i]);
            exit(2);
        }
        session->knobs[knob] = number;
    }
    session->numbers[NAIN_JAUNE_OPTION_SKIP_FORCED] = 1;
    session->numbers[NAIN_JAUNE_OPTION_AUTORESET] = 1;
    session->numbers[NAIN_JAUNE_OPTION_OBSERVE] = 1;
    int32_t refusal = nain_jaune_pack(session, seats);
    if (refusal == NAIN_JAUNE_REFUSED)
        fprintf(stderr, "The number of seats or a knob is out of range.\n");
    else if (refusal) /* {0} in the sentence is details[0] */
        fprintf(stderr, "%s (%" PRId64 ", %" PRId64 ", %" PRId64 ")\n", nain_jaune_refusals[refusal], session->details[0],
                session->details[1], session->details[2]);
    if (refusal)
        exit(2);
}

int main(int argc, char **argv)
{
    static const int sizes[MAX_SEATS + 1] = {
        0, 0, NAIN_JAUNE_OBSERVATION_2, NAIN_JAUNE_OBSERVATION_3, NAIN_JAUNE_OBSERVATION_4, NAIN_JAUNE_OBSERVATION_5,
        NAIN_JAUNE_OBSERVATION_6, NAIN_JAUNE_OBSERVATION_7, NAIN_JAUNE_OBSERVATION_8,
    };
    static nain_jaune_session session; /* zeros, 4 MB */
    static nain_jaune_table tables[TABLES];
    static uint8_t observation[TABLES * NAIN_JAUNE_OBSERVATION_8], mask[TABLES * NAIN_JAUNE_ACTIONS], done[TABLES];
    static int64_t legal[TABLES], deals[TABLES];
    static int32_t reward[TABLES * MAX_SEATS], credited[TABLES * MAX_SEATS], scratch[MAX_SEATS], actions[TABLES];
    static uint64_t states[TABLES], choices[TABLES];
    nain_jaune_batch batch = {TABLES, session.numbers, tables, NULL, legal, observation, mask, reward, credited, deals, done, scratch};
    if (argc < 4) {
        fprintf(stderr, "usage: %s PRESET SEATS ROUNDS [KNOB=NUMBER ...]\n", argv[0]);
        return 2;
    }
    if (nain_jaune_fingerprint() != NAIN_JAUNE_FINGERPRINT) {
        fprintf(stderr, "The library and nain_jaune.h are of different versions.\n");
        return 2;
    }
    int seats = atoi(argv[2]);
    long rounds = atol(argv[3]), played = 0, decisions = 0;
    pack_rules(&session, atoi(argv[1]), seats, argc, argv);
    for (int i = 0; i < TABLES; i++) {
        states[i] = (uint64_t)i;
        choices[i] = (uint64_t)i << 32;
    }
    if (nain_jaune_reset_tables(&batch, states) != NAIN_JAUNE_DONE)
        return 1;
    uint32_t crc = 0;
    while (played < rounds) {
        for (int i = 0; i < TABLES; i++)
            actions[i] = random_action(legal[i], &choices[i]);
        if (nain_jaune_step_tables(&batch, actions) != NAIN_JAUNE_DONE)
            return 1;
        crc = checksum(crc, observation, (size_t)TABLES * (size_t)sizes[seats]);
        crc = checksum(crc, reward, sizeof(int32_t) * TABLES * (size_t)seats);
        crc = checksum(crc, tables, sizeof tables);
        decisions += TABLES;
        for (int i = 0; i < TABLES; i++)
            played += done[i];
    }
    printf("%ld rounds, %ld decisions, checksum %08" PRIx32 "\n", played, decisions, crc);
    return 0;
}
