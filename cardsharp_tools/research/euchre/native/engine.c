/* Decisions, a hundred times as fast as in Python; for measuring only.
 *
 * The twin of cardsharp/euchre/strategies/{worlds,contracts,race,pimc,sound}.py. Every function that
 * Python calls stands at the end.
 */
#include "play.h"

enum { DRAWS = 3, TRIES = 40, SURE = 3, MOST_CHOICES = 8, MOST_WORLDS = 8192, MOST_BATCH = 1024 };
enum { HOPELESS = 900, NEAR = 1000, BOLD = 2800, DEAL = 20, DRAW = 10 };
enum { POINT = 40, CAUTION = 3, OPEN = 1, SEARCH = 6 };
enum { BID, DISCARD, DEFEND, PLAY };

typedef struct { int worlds, batch, work; } Effort;

/* --- what a seat sees -------------------------------------------------------------------- */

typedef struct {
    int turn_card, bids, suit[MAX_BIDS], alone[MAX_BIDS], swapped, defences, defence[2];
    int plays, seat[DEAL], card[DEAL];
} Open;

typedef struct {
    const Open *open;
    int asked, question, discard; /* the own discard or -1 */
    Set hand;
    int caller, number; /* -1 before a call */
    Seating table;
    Stage stage;
    Set played[SEATS], void_in[SEATS];
} View;

static int find_call(View *view) {
    const Open *open = view->open;
    int last = open->bids - 1, lone = -1;
    view->caller = view->number = -1;
    if (last < 0 || open->suit[last] < 0) return 0;
    view->number = last;
    view->caller = last & 3;
    for (int one = 0; one < open->defences; one++)
        if (open->defence[one]) lone = (view->caller + 1 + 2 * one) & 3;
    view->table = seated(view->caller, open->suit[last], open->alone[last], lone);
    return 1;
}

static void tell_plays(View *view) {
    const Open *open = view->open;
    const Layout *cards = view->table.cards;
    Stage stage = {0};
    for (int spot = 0; spot < open->plays; spot++) {
        Mask bit = 1u << cards->place[open->card[spot]];
        stage.seat = open->seat[spot];
        if (stage.laid && !(bit & stage.led)) {
            Set suit = brought_back(cards, stage.led);
            view->void_in[stage.seat] |= suit;
        }
        view->played[stage.seat] |= 1u << open->card[spot];
        stage = after(&view->table, stage, bit);
    }
    stage.seat = next_from(&view->table, stage.seat);
    view->stage = stage;
}

static View look(const Open *open, int asked, int question, Set hand, int discard) {
    View view = {open, asked, question, discard, hand, -1, -1, {0}, {0}, {0}, {0}};
    if (find_call(&view)) tell_plays(&view);
    return view;
}

static int picks_up(const View *view) { return view->number >= 0 && view->number < SEATS; }

static Set dealt_to(const View *view) {
    Set discard = view->discard < 0 ? 0 : 1u << view->discard;
    return view->hand | view->played[view->asked] | discard;
}

static Set unseen(const View *view) {
    Set seen = dealt_to(view) | 1u << view->open->turn_card;
    for (int seat = 0; seat < SEATS; seat++) seen |= view->played[seat];
    return ALL & ~seen;
}

static Set legal_cards(const View *view) {
    if (!view->stage.laid) return view->hand;
    Set follow = view->hand & brought_back(view->table.cards, view->stage.led);
    return follow ? follow : view->hand;
}

/* --- the player by rules ----------------------------------------------------------------- */

/* Actions are numbers: suit + 1 + 8 * alone of a bid, 0 for a pass; a card; 0 or 1 for defences. */
static int ruled(const View *view) {
    const Open *open = view->open;
    if (view->question == BID) {
        int alone, suit = rules_bid(view->hand, open->bids, open->turn_card, &alone);
        return suit + 1 + 8 * alone;
    }
    if (view->question == DEFEND) return 0;
    const Layout *cards = view->table.cards;
    Mask hand = laid_out(cards, view->hand);
    if (view->question == DISCARD) return cards->card[LOWEST(spare(cards, hand))];
    Set hidden = ALL & ~dealt_to(view);
    if (!picks_up(view)) hidden &= ~(1u << open->turn_card);
    Mask unknown = laid_out(cards, hidden) & ~view->stage.gone;
    return cards->card[LOWEST(card_by_rule(&view->table, hand, unknown, &view->stage))];
}

/* --- worlds ------------------------------------------------------------------------------ */

typedef struct { Set hands[SEATS], dealt[SEATS]; } World;

typedef struct { Stage stage; Mask card, from_here; } Told;

typedef struct {
    const View *view;
    uint64_t dice;
    Set pool[CARDS], shown[SEATS], own, turn;
    int cards, order[3], told;
    Told story[DEAL];
} Sampler;

static void learn_story(Sampler *sampler) {
    const View *view = sampler->view;
    const Open *open = view->open;
    Stage stage = {0};
    for (int spot = 0; spot < open->plays; spot++) {
        const Layout *cards = view->table.cards;
        Mask bit = 1u << cards->place[open->card[spot]], since = 0;
        stage.seat = open->seat[spot];
        for (int later = spot; later < open->plays; later++)
            if (open->seat[later] == stage.seat) since |= 1u << cards->place[open->card[later]];
        if (stage.seat != view->asked) sampler->story[sampler->told++] = (Told){stage, bit, since};
        stage = after(&view->table, stage, bit);
    }
}

static Sampler sampler_of(const View *view, uint64_t seed) {
    Sampler sampler = {.view = view, .dice = seed, .turn = 1u << view->open->turn_card};
    Set turn = picks_up(view) ? sampler.turn : 0;
    int seats = 0;
    for (Set left = unseen(view); left; left &= left - 1) sampler.pool[sampler.cards++] = left & -left;
    for (int seat = 0; seat < SEATS; seat++) {
        sampler.shown[seat] = view->played[seat] & ~(seat == DEALER ? turn : 0);
        if (seat != view->asked) sampler.order[seats++] = seat;
    }
    for (int round = 0; round < 2; round++)
        for (int spot = 0; spot < 2; spot++) {
            int one = sampler.order[spot], other = sampler.order[spot + 1];
            if (COUNT(view->void_in[one]) < COUNT(view->void_in[other]))
                sampler.order[spot] = other, sampler.order[spot + 1] = one;
        }
    sampler.own = dealt_to(view) & ~(view->asked == DEALER ? turn : 0);
    learn_story(&sampler);
    return sampler;
}

/* The first cards of the pool that the seat may have been dealt, or -1; see worlds.py. */
static int64_t take(const Sampler *sampler, const Set pool[], Set *left, int seat, int may_spare) {
    const View *view = sampler->view;
    Set void_in = view->void_in[seat], taken = 0;
    int wanted = HAND - COUNT(sampler->shown[seat]);
    if (void_in & sampler->turn && !(view->played[seat] & sampler->turn)) may_spare = 0;
    for (int spot = 0; spot < sampler->cards && wanted; spot++) {
        Set card = pool[spot];
        if (!(*left & card)) continue;
        if (card & void_in) {
            if (!may_spare) continue;
            may_spare = 0;
        }
        taken |= card;
        wanted--;
    }
    *left &= ~taken;
    return wanted ? -1 : (int64_t)taken;
}

static Set after_discard(const Sampler *sampler, Set dealt) {
    const View *view = sampler->view;
    const Layout *cards = view->table.cards;
    Mask left = laid_out(cards, (dealt | sampler->turn) & ~view->played[DEALER]);
    Mask in_void = left & laid_out(cards, view->void_in[DEALER]);
    return brought_back(cards, left ^ spare(cards, in_void ? in_void : left));
}

static int try_world(Sampler *sampler, World *world) {
    const View *view = sampler->view;
    Set pool[CARDS], left = 0;
    memcpy(pool, sampler->pool, sizeof pool);
    shuffle(&sampler->dice, pool, sampler->cards);
    for (int spot = 0; spot < sampler->cards; spot++) left |= pool[spot];
    for (int seat = 0; seat < SEATS; seat++)
        world->hands[seat] = view->hand, world->dealt[seat] = sampler->own;
    for (int turn = 0; turn < 3; turn++) {
        int seat = sampler->order[turn], discarded = picks_up(view) && seat == DEALER;
        int64_t taken = take(sampler, pool, &left, seat, discarded);
        if (taken < 0) return 0;
        world->dealt[seat] = sampler->shown[seat] | (Set)taken;
        world->hands[seat] = discarded ? after_discard(sampler, world->dealt[seat]) : (Set)taken;
    }
    return 1;
}

static void hidden_from(const View *view, const Seating *table, const World *world, int picked_up,
                        Mask hidden[]) {
    Mask turn = 1u << table->cards->place[view->open->turn_card];
    for (int seat = 0; seat < SEATS; seat++)
        hidden[seat] = (picked_up ? ALL : ALL ^ turn) & ~laid_out(table->cards, world->dealt[seat]);
    if (picked_up) hidden[DEALER] &= ~turn;
}

static int is_surprising(const Sampler *sampler, const Told *told, Mask hand, Mask hidden) {
    const Seating *table = &sampler->view->table;
    Mask expected = card_by_rule(table, hand, hidden, &told->stage);
    Mask suit = table->cards->suit[LOWEST(expected)];
    if (expected == told->card) return 0;
    Mask low = expected < told->card ? expected : told->card;
    Mask high = expected < told->card ? told->card : expected;
    return !(suit & told->card) || (suit & (high - 1) & ~(2 * low - 1) & hidden);
}

static double likelihood(const Sampler *sampler, const World *world) {
    const View *view = sampler->view;
    const Open *open = view->open;
    double likely = 1, surprise = 1;
    for (int bid = 0; bid < open->bids; bid++)
        if ((bid & 3) != view->asked)
            likely *= bid_likelihood(world->dealt[bid & 3], bid, open->turn_card, open->suit[bid],
                                     open->alone[bid]);
    if (!open->plays) return likely;
    Mask hidden[SEATS];
    hidden_from(view, &view->table, world, picks_up(view), hidden);
    for (int spot = 0; spot < sampler->told; spot++) {
        const Told *told = &sampler->story[spot];
        int seat = told->stage.seat;
        Mask hand = laid_out(view->table.cards, world->hands[seat]) | told->from_here;
        if (is_surprising(sampler, told, hand, hidden[seat] & ~told->stage.gone)) surprise *= 0.1;
    }
    return likely * surprise;
}

/* A batch of worlds and how often each was drawn; how many different ones, 0 if none was found. */
static int sample(Sampler *sampler, int number, World worlds[], int times[]) {
    static World drawn[DRAWS * MOST_BATCH];
    static double sums[DRAWS * MOST_BATCH];
    int found = 0, kept = 0;
    double sum = 0;
    for (int draw = 0; draw < DRAWS * number; draw++) {
        int ok = 0;
        for (int attempt = 0; attempt < TRIES && !ok; attempt++) ok = try_world(sampler, &drawn[found]);
        if (!ok) break;
        sum += likelihood(sampler, &drawn[found]);
        sums[found++] = sum;
    }
    if (!found) return 0;
    double step = sum / number, mark = share(&sampler->dice) * step;
    for (int one = 0; one < found; one++) {
        int count = 0;
        for (; mark < sums[one]; mark += step) count++;
        if (count) worlds[kept] = drawn[one], times[kept++] = count;
    }
    return kept;
}

/* --- contracts and choices --------------------------------------------------------------- */

/* Points of a contract, of that side; the dealer discards by rule where nothing is told. */
static int contract(const View *view, const World *world, int number, int suit, int alone,
                    int lone_defender, int laid, int side) {
    Seating table = seated(number & 3, suit, alone, lone_defender);
    Mask hands[SEATS], hidden[SEATS];
    for (int seat = 0; seat < SEATS; seat++) hands[seat] = laid_out(table.cards, world->dealt[seat]);
    hidden_from(view, &table, world, number < SEATS, hidden);
    if (number < SEATS) {
        Mask six = hands[DEALER] | 1u << table.cards->place[view->open->turn_card];
        hands[DEALER] = six ^ (laid < 0 ? spare(table.cards, six) : 1u << table.cards->place[laid]);
    }
    Stage stage = {.seat = next_from(&table, 0)};
    int worth = played_out(&table, hands, hidden, stage);
    return (number & 1) == side ? worth : -worth;
}

static int worth_of_pass(const View *view, const World *world) {
    int turn_card = view->open->turn_card;
    for (int later = view->open->bids + 1; later < MAX_BIDS; later++) {
        int alone, suit = rules_bid(world->dealt[later & 3], later, turn_card, &alone);
        if (suit >= 0) return contract(view, world, later, suit, alone, -1, -1, view->asked & 1);
    }
    return 0;
}

typedef struct { int number, action[MOST_CHOICES], work; } Choices;

static Choices choices_of(const View *view) {
    Choices found = {1, {ruled(view)}, DEAL};
    const Open *open = view->open;
    if (view->question == BID) {
        Appraisal seen = appraise(view->hand, open->bids, open->turn_card);
        int wanted = seen.worth[seen.best] - NEAR;
        if (wanted < HOPELESS) wanted = HOPELESS;
        found.action[0] = 0;
        for (int suit = 0; suit < SEATS; suit++)
            for (int alone = 0; alone < 2; alone++)
                if (seen.worth[suit] >= wanted && (!alone || seen.worth[suit] >= BOLD))
                    found.action[found.number++] = suit + 1 + 8 * alone;
    } else if (view->question == DEFEND) {
        found.action[found.number++] = 1;
    } else if (view->question == DISCARD) {
        for (int card = 0; card < CARDS; card++)
            if (view->hand >> card & 1 && card != found.action[0])
                found.action[found.number++] = card;
    } else {
        const Layout *cards = view->table.cards;
        Mask first = 1u << cards->place[found.action[0]];
        Set laid = 0, turn = picks_up(view) ? 1u << open->turn_card : 0, done = dealt_to(view);
        for (int spot = 0; spot < open->plays; spot++)
            *(spot < open->plays - view->stage.laid ? &done : &laid) |= 1u << open->card[spot];
        Set present = view->hand | unseen(view) | laid | (turn & ~(done & ~view->hand));
        for (Mask legal = laid_out(cards, legal_cards(view)); legal;) {
            Mask block = next_block(cards, &legal, laid_out(cards, present));
            if (!(block & first)) found.action[found.number++] = cards->card[LOWEST(block)];
        }
        int is_open = view->stage.won + view->stage.lost >= OPEN;
        found.work = (DEAL - open->plays) * (is_open ? SEARCH : 1);
    }
    return found;
}

static int worth_of(const View *view, const World *world, int action) {
    const Open *open = view->open;
    int side = view->asked & 1, last = open->bids - 1;
    if (view->question == BID) {
        if (!action) return POINT * worth_of_pass(view, world);
        int suit = (action & 7) - 1, alone = action >> 3;
        return POINT * contract(view, world, open->bids, suit, alone, -1, -1, side) - CAUTION;
    }
    int lone = view->question == DEFEND && action ? view->asked : -1;
    int laid = view->question == DISCARD ? action : -1;
    return POINT *
           contract(view, world, last, open->suit[last], open->alone[last], lone, laid, side);
}

static Mask trick_of(const View *view) {
    const Open *open = view->open;
    Mask trick = 0;
    for (int spot = open->plays - view->stage.laid; spot < open->plays; spot++)
        trick |= 1u << view->table.cards->place[open->card[spot]];
    return trick;
}

/* What each of the running cards gains. */
static void weigh_cards(const View *view, const World *world, const int actions[], int number,
                        const int running[], int gains[]) {
    const Seating *table = &view->table;
    Mask hands[SEATS], hidden[SEATS], trick = trick_of(view);
    for (int seat = 0; seat < SEATS; seat++) hands[seat] = laid_out(table->cards, world->hands[seat]);
    hidden_from(view, table, world, picks_up(view), hidden);
    int is_open = view->stage.won + view->stage.lost >= OPEN;
    Search open = search(table, hands);
    Mask own = hands[view->asked];
    for (int one = 0; one < number; one++) {
        if (!running[one]) continue;
        Mask card = 1u << table->cards->place[actions[one]];
        Stage then = after(table, view->stage, card);
        hands[view->asked] = own ^ card;
        int gain = played_out(table, hands, hidden, then);
        gain += is_open ? open_points(&open, then, trick | card) : gain;
        gains[one] = (ours(table, view->asked) ? gain : -gain) * (POINT / 2);
    }
}

/* --- the race ---------------------------------------------------------------------------- */

typedef struct {
    int32_t action, worlds, choices;
    int32_t actions[MOST_CHOICES], tried[MOST_CHOICES], totals[MOST_CHOICES];
} Answer;

static int16_t worths[MOST_CHOICES][MOST_WORLDS];

/* Give up the choices that are surely worse; whether any is left that may be better. */
static int thin_out(Answer *answer, int running[], int leader) {
    int open_still = 0;
    int64_t worlds = answer->worlds;
    for (int one = 0; one < answer->choices; one++) {
        int64_t lead = 0, squares = 0;
        if (!running[one] || one == leader) continue;
        for (int world = 0; world < worlds; world++) {
            int64_t gap = worths[leader][world] - worths[one][world];
            lead += gap;
            squares += gap * gap;
        }
        if (lead && worlds * lead * lead > SURE * SURE * (worlds * squares - lead * lead))
            running[one] = 0;
        else if (squares) open_still = 1;
    }
    return open_still;
}

static void run_batch(Sampler *sampler, const Effort *effort, Answer *answer, const int running[]) {
    static World worlds[DRAWS * MOST_BATCH];
    static int times[DRAWS * MOST_BATCH];
    int found = sample(sampler, effort->batch, worlds, times);
    for (int world = 0; world < found; world++) {
        int gains[MOST_CHOICES];
        if (sampler->view->question == PLAY)
            weigh_cards(sampler->view, &worlds[world], answer->actions, answer->choices, running,
                        gains);
        for (int one = 0; one < answer->choices; one++) {
            if (!running[one]) continue;
            int worth = sampler->view->question == PLAY
                ? gains[one]
                : worth_of(sampler->view, &worlds[world], answer->actions[one]);
            answer->totals[one] += times[world] * worth;
            answer->tried[one] += times[world];
            for (int count = 0; count < times[world]; count++)
                worths[one][answer->worlds + count] = (int16_t)worth;
        }
        answer->worlds += times[world];
    }
}

static uint64_t seed_of(const View *view) {
    const Open *open = view->open;
    uint64_t seed = mixed(0, view->question + 4 * view->asked);
    seed = mixed(mixed(seed, view->hand), view->discard);
    seed = mixed(mixed(seed, open->turn_card), open->defences);
    for (int bid = 0; bid < open->bids; bid++)
        seed = mixed(seed, open->suit[bid] < 0 ? -1 : 2 * open->suit[bid] + open->alone[bid]);
    for (int spot = 0; spot < open->plays; spot++)
        seed = mixed(seed, 4 * open->card[spot] + open->seat[spot]);
    return seed;
}

static Answer weighed(const View *view, const Effort *effort) {
    Answer answer = {0};
    Choices choices = choices_of(view);
    int running[MOST_CHOICES], work = 0, leader = 0;
    answer.choices = choices.number;
    for (int one = 0; one < choices.number; one++)
        running[one] = 1, answer.actions[one] = choices.action[one];
    answer.action = choices.action[0];
    if (choices.number == 1) return answer;
    Sampler sampler = sampler_of(view, seed_of(view));
    while (answer.worlds < effort->worlds && work < effort->work) {
        int in_race = 0, before = answer.worlds;
        for (int one = 0; one < choices.number; one++) in_race += running[one];
        run_batch(&sampler, effort, &answer, running);
        if (!answer.worlds) {
            answer.action = ruled(view);
            break;
        }
        work += effort->batch * (DRAWS * DRAW + in_race * choices.work);
        leader = -1;
        for (int one = 0; one < choices.number; one++)
            if (running[one] && (leader < 0 || answer.totals[one] > answer.totals[leader]))
                leader = one;
        answer.action = choices.action[leader];
        if (answer.worlds == before || !thin_out(&answer, running, leader)) break;
    }
    return answer;
}

/* --- for Python -------------------------------------------------------------------------- */

void euchre_begin(void) {
    for (int trump = 0; trump < SEATS; trump++) make_layout(trump);
}

/* One decision: `open` as the struct lays it out, all of it 32-bit integers. */
void euchre_decide(const Open *open, int asked, int question, int hand, int discard,
                   const Effort *effort, Answer *answer) {
    View view = look(open, asked, question, (Set)hand, discard);
    *answer = weighed(&view, effort);
}
