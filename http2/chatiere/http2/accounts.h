/* Accounts of the cost that clients cause to a server. Each client address or, on Unix sockets, each user has an
 * account. Endpoints in several threads can share the accounts. */
#ifndef CHATIERE_ACCOUNTS_H
#define CHATIERE_ACCOUNTS_H

#include <netinet/in.h>
#include <stddef.h>

/* `cost` is the debt at the time `at`, in seconds. A debt decreases at a fixed pace; see `accounts_new`. */
struct debt {
    double cost, at;
};

struct account;
struct accounts;

/* Create an empty set of accounts. `pace` is the amount by which each debt decreases per second. `max_debt` is the debt
 * above which a connection is ended. Returns NULL if there is no memory. */
struct accounts *accounts_new(double pace, double max_debt);
/* Free the accounts; every account must have been closed. */
void accounts_free(struct accounts *accounts);
/* Reduce a debt by the pace for the time since `debt->at`, then add `cost` to it. Returns the new debt. */
double accounts_owed(const struct accounts *accounts, struct debt *debt, double cost, double now);
double accounts_max_debt(const struct accounts *accounts);
/* Free the accounts that have no connections and no debt. Does nothing within a second of the last sweep. */
void accounts_sweep(struct accounts *accounts, double now);

/* Return the group of an address. The addresses of a group share an account. An IPv4 address must be IPv4-mapped, and
 * is a group by itself. The group of an IPv6 address is its /64 network. */
struct in6_addr address_group(const struct in6_addr *address);
/* Add a connection to the account of the address's group. Create the account if necessary. Returns the account, or NULL
 * if there is no memory. */
struct account *account_open(struct accounts *accounts, const struct in6_addr *address);
void account_close(struct accounts *accounts, struct account *account);
/* Return the number of the account's open connections. */
size_t account_connections(const struct account *account);
/* Add `cost` to the account's debt. Returns the new debt. */
double account_owed(struct accounts *accounts, struct account *account, double cost, double now);

#endif
