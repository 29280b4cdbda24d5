/* The last cards: what a whole turn is worth, remembered by position. */
#ifndef CARDSHARP_ENDGAME_H
#define CARDSHARP_ENDGAME_H

#include "search.h"

/* The chance of the player whose turn begins: the mean over the first card, which must be drawn. */
double turn_value(Search *search, Cards mover, Cards other, Cards pile, Card known);

Search *search_new(const Model *model, const Limits *limits);
void search_free(Search *search);
void search_begin(Search *search, Cards deck); /* before each decision */
void search_forget(Search *search);            /* the model has changed */

#endif
