/* The cost of a server's clients, by address or, on Unix sockets, by user. Endpoints in several threads share it. */
#ifndef CHATIERE_ACCOUNTS_H
#define CHATIERE_ACCOUNTS_H

#include <netinet/in.h>
#include <stddef.h>

/* The cost owed at time `at`; it decreases at a fixed pace. */
struct debt {
    double cost, at;
};

struct account;
struct accounts;

/* Create empty accounts. `pace`: the cost per second that a connection, or an address, may cause. `max_debt`: the debt
 * at which a connection is ended. Returns NULL if there is no memory. */
struct accounts *accounts_new(double pace, double max_debt);
/* Free the accounts; every account must have been closed. */
void accounts_free(struct accounts *accounts);
/* Reduce a debt by the time that has passed, then add `cost` to it. Returns the new debt. */
double accounts_owed(const struct accounts *accounts, struct debt *debt, double cost, double now);
double accounts_max_debt(const struct accounts *accounts);
/* Forget addresses that have no connection and no debt. Runs at most once a second. */
void accounts_sweep(struct accounts *accounts, double now);

/* Return the group of an address: the IPv4 address (in either notation), or the /64 network of an IPv6 address. */
struct in6_addr address_group(const struct in6_addr *address);
/* Count another connection of an address, and return the account of its group; NULL if there is no memory. */
struct account *account_open(struct accounts *accounts, const struct in6_addr *address);
void account_close(struct accounts *accounts, struct account *account);
/* The number of open connections of the account. */
size_t account_connections(const struct account *account);
/* Add `cost` to the account's debt. Returns the new debt. */
double account_owed(struct accounts *accounts, struct account *account, double cost, double now);

#endif
