/* A small network in integers: the same outputs on every processor. Plain C without Python, so that a cross compiler
 * can build it.
 *
 * Its inputs are the numbers of an observation that are not 0. Each of them adds columns of the first layer. A second
 * layer has groups of units. A run of actions uses one of the groups, and each action a row of weights, which actions of
 * several runs may share, or the sum of several rows. Only groups and rows of legal actions are computed, and group 0,
 * which gives the expected returns of the seats.
 *
 * Activations are 0 … NET_ONE, which stands for 1. Weights are int16: of the first two layers in units of 2^-12, of
 * actions and values of 2^-10. Sums are int32 in units of the products, so a logit or a value of NET_OUTPUT_ONE is 1.
 * The code that fills in a Net ensures that no sum can leave the range of int32. */
#ifndef CHATIERE_NET_H
#define CHATIERE_NET_H

#include <stdint.h>

enum {
    NET_ONE = 127,
    NET_INPUT_SHIFT = 5,
    NET_HIDDEN_SHIFT = 12,
    NET_OUTPUT_ONE = 1 << 17,
    NET_MAX_FIRST = 256,
    NET_MAX_SECOND = 64,
    NET_MAX_SLOTS = 8
};

/* The effect of a number n of an observation that is not 0 */
enum {
    NET_CATEGORY, /* adds the column first + n - 1 */
    NET_COUNT,    /* adds n times the column first */
    NET_BITS      /* adds the column first + b for each bit b that is set */
};

typedef struct {
    uint32_t first;
    uint8_t kind;
    uint8_t shift; /* its place in a byte of the observation */
    uint8_t mask;
    uint8_t largest;
} NetField;

/* The logit of action first + i of a run */
enum {
    NET_OWN_ROW, /* the logit of the row row + i; size is 0 */
    /* The hand's cards are in slots by ascending number, the first NET_MAX_SLOTS of them; empty slots add 0. */
    NET_SLOT, /* the logit of the row row + the number of the card in slot i; size is the number of slots */
    NET_PLAY  /* with i = t << (size - 1) | m, where size is the number of slots: the sum of the rows row + the number
               * of the card in slot t, row + cards + that of each card in another slot, bit k of m for the k-th of
               * these, and row + 2 cards + how many bits m has */
};

/* Actions with consecutive ids, up to the first action of the next run. Runs are ascending. */
typedef struct {
    uint32_t first; /* action */
    uint32_t row;
    uint32_t group;
    uint16_t kind;
    uint16_t size;
} NetRun;

typedef struct {
    int32_t length;           /* of an observation */
    const uint32_t *fields_of; /* [length + 1]: byte i has the fields from fields_of[i] to before fields_of[i + 1] */
    const NetField *fields;
    int32_t hand;  /* the place of the first flag of the hand's cards, a byte each */
    int32_t cards; /* the number of these flags */
    int32_t num_first;
    const int16_t *columns; /* [columns][num_first] */
    const int32_t *first_bias;
    int32_t num_second;          /* units of a group */
    const int16_t *second;       /* [groups][num_second][num_first] */
    const int32_t *second_bias;  /* [groups][num_second] */
    int32_t num_runs;
    const NetRun *runs;
    const int16_t *rows; /* [rows][num_second] */
    const int32_t *rows_bias;
    int32_t num_values;
    const int16_t *values; /* [num_values][num_second] */
    const int32_t *values_bias;
} Net;

/* Compute the logits of `count` legal actions, ascending, and the values. Return 0, without having written anything, if
 * a number of the observation is above the largest. */
int net_evaluate(const Net *net, const uint8_t *observation, const uint16_t *legal, int32_t count, int32_t *logits,
                 int32_t *values);

#endif
