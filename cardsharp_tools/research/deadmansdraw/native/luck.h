/* What chance brought: the twin of cardsharp/games/deadmansdraw/luck.py. */
#ifndef CARDSHARP_LUCK_H
#define CARDSHARP_LUCK_H

#include "exact.h"

/* How luck is taken out: by whom it is judged, and how often the last cards are played again. */
typedef struct {
    const Policy *judge; /* a captain without an endgame */
    int32_t last;        /* so many cards left are the last */
    int32_t times;
} Tempering;

/* What the cards that came with `action` are worth to its player above what could have come: the
 * mean is 0 whatever the judge thinks. `drawn` is the card that a draw brought. */
double luck_of(const Policy *judge, const Table *before, Action action, Card drawn,
               const Match *after);
/* The same by the exact solver, where the cards that are left are few; it must not give up. */
double luck_by_exact(Exact *exact, const Table *before, Action action, Card drawn,
                     const Match *after);

#endif
