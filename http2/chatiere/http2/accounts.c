#include "accounts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define PLACES 4096
/* The minimum time between two sweeps, in seconds. */
#define SWEEP 1.0

struct account {
    struct account *next; /* in the same bucket */
    struct in6_addr group;
    atomic_size_t connections;
    struct debt debt;
};

struct accounts {
    double pace, max_debt;
    pthread_mutex_t lock; /* guards the members below, and all debts */
    uint64_t key;         /* a random key for the hash function, so that clients cannot choose their bucket */
    double swept_at;
    struct account *places[PLACES];
};

struct accounts *accounts_new(double pace, double max_debt) {
    struct accounts *found = calloc(1, sizeof(struct accounts));
    if (found == NULL)
        return NULL;
    if (pthread_mutex_init(&found->lock, NULL) != 0) {
        free(found);
        return NULL;
    }
    found->pace = pace;
    found->max_debt = max_debt;
    if (getrandom(&found->key, sizeof(found->key), GRND_NONBLOCK) < 0)
        found->key = (uint64_t)(uintptr_t)found;
    return found;
}

static void free_settled(struct accounts *accounts, double now, bool are_all) {
    for (size_t i = 0; i < PLACES; i++) {
        struct account **place = &accounts->places[i];
        while (*place != NULL) {
            struct account *each = *place;
            if (are_all || (each->connections == 0 && accounts_owed(accounts, &each->debt, 0, now) == 0)) {
                *place = each->next;
                free(each);
            } else {
                place = &each->next;
            }
        }
    }
}

void accounts_free(struct accounts *accounts) {
    free_settled(accounts, 0, true);
    pthread_mutex_destroy(&accounts->lock);
    free(accounts);
}

double accounts_owed(const struct accounts *accounts, struct debt *debt, double cost, double now) {
    if (now > debt->at) {
        debt->cost -= accounts->pace * (now - debt->at);
        debt->at = now;
    }
    if (debt->cost < 0)
        debt->cost = 0;
    debt->cost += cost;
    return debt->cost;
}

double accounts_max_debt(const struct accounts *accounts) {
    return accounts->max_debt;
}

void accounts_sweep(struct accounts *accounts, double now) {
    pthread_mutex_lock(&accounts->lock);
    if (now > accounts->swept_at + SWEEP) {
        accounts->swept_at = now;
        free_settled(accounts, now, false);
    }
    pthread_mutex_unlock(&accounts->lock);
}

struct in6_addr address_group(const struct in6_addr *address) {
    struct in6_addr group = *address;
    if (!IN6_IS_ADDR_V4MAPPED(address))
        memset(group.s6_addr + 8, 0, 8);
    return group;
}

static struct account **place_of(struct accounts *accounts, const struct in6_addr *group) {
    uint64_t words[2];
    memcpy(words, group->s6_addr, sizeof(words));
    uint64_t mixed = accounts->key;
    for (int i = 0; i < 2; i++) {
        mixed = (mixed ^ words[i]) * 0x9E3779B97F4A7C15u;
        mixed ^= mixed >> 32;
        mixed *= 0xD6E8FEB86659FD93u;
        mixed ^= mixed >> 29;
    }
    return &accounts->places[mixed % PLACES];
}

struct account *account_open(struct accounts *accounts, const struct in6_addr *address) {
    struct in6_addr group = address_group(address);
    pthread_mutex_lock(&accounts->lock);
    struct account **place = place_of(accounts, &group);
    struct account *found = *place;
    while (found != NULL && memcmp(&found->group, &group, sizeof(group)) != 0)
        found = found->next;
    if (found == NULL && (found = calloc(1, sizeof(struct account))) != NULL) {
        found->group = group;
        found->next = *place;
        *place = found;
    }
    if (found != NULL)
        found->connections++;
    pthread_mutex_unlock(&accounts->lock);
    return found;
}

void account_close(struct accounts *accounts, struct account *account) {
    /* The lock prevents a sweep from freeing the account during the decrement. */
    pthread_mutex_lock(&accounts->lock);
    account->connections--;
    pthread_mutex_unlock(&accounts->lock);
}

size_t account_connections(const struct account *account) {
    return atomic_load_explicit(&account->connections, memory_order_relaxed);
}

double account_owed(struct accounts *accounts, struct account *account, double cost, double now) {
    pthread_mutex_lock(&accounts->lock);
    double owed = accounts_owed(accounts, &account->debt, cost, now);
    pthread_mutex_unlock(&accounts->lock);
    return owed;
}
