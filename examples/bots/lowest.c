/* A bot in C, without libraries: Nain Jaune's heuristic `lowest` plays the lowest rank, and a pot card before a plain one. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns where the JSON value at p ends: at a comma, a colon or the bracket around it. */
static const char *skip(const char *p) {
    for (int depth = 0, quoted = 0; *p; p++) {
        if (*p == '\\' && p[1]) p++;
        else if (*p == '"') quoted = !quoted;
        else if (quoted) continue;
        else if (depth == 0 && strchr(",:]}", *p)) break;
        else if (*p == '[' || *p == '{') depth++;
        else if (*p == ']' || *p == '}') depth--;
    }
    return p;
}

/* The first item of the JSON array or object at p, and the item after one; NULL if there is none. */
static const char *space(const char *p) { return p + strspn(p, " \t\r\n"); }
static const char *first(const char *p) { return *p && *(p = space(p + 1)) && !strchr("]}", *p) ? p : NULL; }
static const char *next(const char *p) { return *(p = skip(p)) == ',' ? space(p + 1) : NULL; }

/* Returns the value of a key of the JSON object at p; an empty text if it has none. */
static const char *get(const char *p, const char *key) {
    for (p = first(p); p; p = next(p)) {
        const char *name = p + 1;
        if (*(p = skip(p)) == ':') p = space(p + 1);
        if (!strncmp(name, key, strlen(key)) && name[strlen(key)] == '"') return p;
    }
    return "";
}

int main(void) {
    int late[64] = {0}; /* of each action: how late it is played */
    char *line = NULL;
    for (size_t size = 0; getline(&line, &size, stdin) > 0; fflush(stdout)) {
        const char *type = get(line, "type"), *item, *ranks = "A23456789TJQK";
        long id = atol(get(line, "id")), action = 0;
        if (!strncmp(type, "\"hello\"", 7)) {
            for (item = first(get(line, "actions")); item && action < 64; item = next(item)) {
                int rank = strcspn(ranks, (char[]){item[1], 0}), length = strcspn(item + 1, "\"");
                late[action++] = item[1] == '-' || length > 2 ? 99 : 2 * rank + (length == 1); /* "-" "7d~" "7d" "7" */
            }
            printf("{\"type\":\"ready\",\"protocol\":1,\"id\":%ld,\"name\":\"lowest in C\",", id);
            puts("\"batch\":65536,\"deterministic\":true}");
        } else if (!strncmp(type, "\"turn\"", 6)) {
            printf("{\"type\":\"actions\",\"id\":%ld,\"actions\":", id);
            const char *between = "[", *legal;
            for (item = first(get(line, "decisions")); item; item = next(item), between = ",") {
                for (action = -1, legal = first(get(item, "legal")); legal; legal = next(legal))
                    if (action < 0 || late[atoi(legal)] < late[action]) action = atoi(legal);
                printf("%s%ld", between, action);
            }
            puts("]}");
        } else if (!strncmp(type, "\"quit\"", 6)) return 0;
    }
}
