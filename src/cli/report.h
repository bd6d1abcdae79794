/* What --explain, --timings, --dry-run and --json say about a picture. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "json.h"
#include "picture.h"

void report_explain(const gf_plan *plan, FILE *out);
void report_timings(const batch *s, const picture *p, FILE *out);
void report_dry_run(const batch *s, const picture *p, FILE *out);
void report_json(const batch *s, const picture *p, json *j);

#endif
