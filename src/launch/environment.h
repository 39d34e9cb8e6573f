#ifndef SWZ_LAUNCH_ENVIRONMENT_H
#define SWZ_LAUNCH_ENVIRONMENT_H

/* The environment that the program gets. */

/* Its value; empty where it is not set. */
const char *swz_environment_get(const char *variable);

/* Dies where there is no memory. */
void swz_environment_set(const char *variable, const char *value);

#endif
