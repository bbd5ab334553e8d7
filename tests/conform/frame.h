/* Between the parts of the frame; cases use conform.h alone. */
#ifndef FRAME_H
#define FRAME_H

#include "conform.h"

void transcript_begin(const char *dir); /* opens DIR/transcript.RANK */
void transcript_end(void);              /* also says what the case left open */
void kit_end(void);                     /* closes what was kept */
void watch_for_crashes(void);           /* a signal writes the call that it hit to the transcript */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn)); /* the frame itself cannot go on */

#endif
