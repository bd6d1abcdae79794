/* What the unit suites share: running, and short ways to say what is expected. */
#ifndef GFT_SUITE_H
#define GFT_SUITE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpufilter/error.h>

/* A status and a part of the message that belongs to it. */
#define expect_fail(call, wanted, part)                                                            \
    do {                                                                                           \
        gf_status got_ = (call);                                                                   \
        ck_assert_msg(got_ == (wanted), "%s: %s (%s), not %s", #call, gf_status_name(got_),        \
                      gf_error_message(), gf_status_name(wanted));                                 \
        ck_assert_msg(strstr(gf_error_message(), part), "%s: the message \"%s\" lacks \"%s\"",     \
                      #call, gf_error_message(), part);                                            \
    } while (0)

#define expect_ok(call)                                                                            \
    do {                                                                                           \
        gf_status got_ = (call);                                                                   \
        ck_assert_msg(got_ == GF_OK, "%s: %s (%s)", #call, gf_status_name(got_),                   \
                      gf_error_message());                                                         \
    } while (0)

static inline void suite_add(Suite *suite, const char *name, const TTest *test)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 120); /* sanitizers and busy machines are slow */
    tcase_add_test(tcase, test);
    suite_add_tcase(suite, tcase);
}

static inline int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
