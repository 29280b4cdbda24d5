// Play Dead Man's Draw at an arena: go run bot.go URL ID [TAG | --practice] [--insecure]
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Match is what a bot sees of a match in which it is its turn; add the fields that you need.
type Match struct {
	ID        string   `json:"_id"`
	PlayerIDs []string `json:"playerids"`
	State     struct {
		PlayArea []struct {
			Suit  string `json:"suit"`
			Value int    `json:"value"`
		} `json:"playArea"`
	} `json:"state"`
}

// Action is what a bot does in its turn.
type Action struct {
	Type     string `json:"etype"`
	Autopick bool   `json:"autopick"`
}

// Your strategy: return the action for your turn in a match. This one stops at three cards.
func decide(match Match) Action {
	if len(match.State.PlayArea) >= 3 {
		return Action{"EndTurn", true}
	}
	return Action{"Draw", true}
}

// Refusal is an answer with another status than those of the API's success.
type Refusal struct {
	Status int
	Text   string
}

func (refusal Refusal) Error() string { return fmt.Sprintf("%d %s", refusal.Status, refusal.Text) }

// Bot plays one player's matches.
type Bot struct {
	matches, player, password string
	http                      http.Client
	seats                     map[string]int // your seat, 0 or 1, in each match that runs
	isLost                    bool
}

// ask sends a request and returns the response: 200, 409 (not your turn) or 410 (match over).
func (bot *Bot) ask(address string, sent any) (int, []byte, error) {
	method, body := "GET", ""
	if sent != nil {
		raw, _ := json.Marshal(sent)
		method, body = "POST", string(raw)
	}
	request, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.SetBasicAuth(bot.player, bot.password)
	request.Header.Set("Content-Type", "application/json")
	answer, err := bot.http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, nil, err
	}
	if answer.StatusCode == 401 {
		stop(1, string(text)+": are ID and ARENA_PASSWORD right?")
	}
	if answer.Header.Get("X-SlowDown-Remaining") == "0" {
		time.Sleep(time.Second)
	}
	if answer.StatusCode != 200 && answer.StatusCode != 409 && answer.StatusCode != 410 {
		return 0, nil, Refusal{answer.StatusCode, string(text)}
	}
	if notice := answer.Header.Get("X-Arena-Notice"); notice != "" {
		fmt.Println(notice)
	}
	return answer.StatusCode, text, nil
}

// report prints that a match begins, or its result if it is over. Then it forgets the match.
func (bot *Bot) report(id string, begins bool) error {
	_, text, err := bot.ask(bot.matches+"/"+id+"?condensed=1", nil)
	if err != nil {
		return err
	}
	var match struct {
		Finished    bool
		PlayerNames []string
		PlayerData  []struct {
			Winner    bool
			BankValue int
		}
	}
	if err := json.Unmarshal(text, &match); err != nil {
		return err
	}
	mine, other := match.PlayerData[bot.seats[id]], match.PlayerData[1-bot.seats[id]]
	title := "Match " + id + ", " + strings.Join(match.PlayerNames, " against ")
	if begins {
		fmt.Println(title + ": begins")
	} else if match.Finished {
		result := "drawn"
		if mine.Winner {
			result = "won"
		} else if other.Winner {
			result = "lost"
		}
		fmt.Printf("%s: %s %d:%d\n", title, result, mine.BankValue, other.BankValue)
		delete(bot.seats, id)
	}
	return nil
}

// turn waits for your turn at an address, and acts; it returns true if the one match is over.
func (bot *Bot) turn(look string) (bool, error) {
	status, text, err := bot.ask(look, nil)
	if err != nil {
		return false, err
	}
	if bot.isLost {
		fmt.Println("The arena answers again.")
	}
	bot.isLost = false
	var found []Match
	if status == 200 {
		if !strings.HasPrefix(string(text), "[") {
			text = []byte("[" + string(text) + "]")
		}
		if err := json.Unmarshal(text, &found); err != nil {
			return false, err
		}
	}
	var fresh []Match
	for _, match := range found {
		if _, runs := bot.seats[match.ID]; !runs {
			fresh = append(fresh, match)
		}
	}
	if len(fresh) > 0 || len(found) == 0 { // matches that ran may be over
		for id := range bot.seats {
			if err := bot.report(id, false); err != nil {
				return false, err
			}
		}
	}
	for _, match := range fresh {
		bot.seats[match.ID] = 0
		if match.PlayerIDs[0] != bot.player {
			bot.seats[match.ID] = 1
		}
		if err := bot.report(match.ID, true); err != nil {
			delete(bot.seats, match.ID)
			return false, err
		}
	}
	for _, match := range found {
		if _, _, err := bot.ask(bot.matches+"/"+match.ID, decide(match)); err != nil {
			return false, err
		}
	}
	return status == 410, nil
}

// play plays all matches with the tag forever, or one match against the dummy to its end.
func (bot *Bot) play(entry string) {
	look := bot.matches + "?active=1&wait=1"
	if entry == "--practice" {
		look = ""
	} else if entry != "" {
		look += "&tags=" + url.QueryEscape(entry)
	}
	for {
		var isOver bool
		var err error
		if look == "" {
			look, err = bot.beginPractice()
		} else {
			isOver, err = bot.turn(look)
		}
		if err != nil {
			bot.rest(err) // the next request shows whether an action without a response was applied
		} else if isOver {
			return
		}
	}
}

// beginPractice begins a match against the dummy and returns the address to wait at.
func (bot *Bot) beginPractice() (string, error) {
	sent := map[string]any{"playerids": []string{bot.player, strings.Repeat("0", 24)}}
	_, text, err := bot.ask(bot.matches, sent)
	if err != nil {
		return "", err
	}
	var match struct{ ID string }
	err = json.Unmarshal(text, &match)
	return bot.matches + "/" + match.ID + "?waitactive=1", err
}

// rest waits a second after an error.
func (bot *Bot) rest(err error) {
	var refusal Refusal
	isRefused := errors.As(err, &refusal) && refusal.Status < 500
	if refusal.Status == 404 {
		bot.seats = map[string]int{} // a restarted arena may have lost its matches
	}
	if isRefused {
		fmt.Println(err)
	} else if !bot.isLost {
		reason := err
		var failure *url.Error
		if errors.As(err, &failure) {
			reason = failure.Err // without the address of the request
		}
		fmt.Printf("The arena does not answer (%v). Trying again every second.\n", reason)
		bot.isLost = true
	}
	time.Sleep(time.Second)
}

func stop(code int, why string) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(code)
}

func main() {
	password, insecure := os.Getenv("ARENA_PASSWORD"), os.Getenv("ARENA_INSECURE") == "1"
	var words []string
	for _, word := range os.Args[1:] {
		if word == "--insecure" {
			insecure = true
		} else {
			words = append(words, word)
		}
	}
	if len(words) < 2 || len(words) > 3 || password == "" {
		stop(2, "go run bot.go URL ID [TAG | --practice] [--insecure]; set ARENA_PASSWORD to the password.")
	}
	words = append(words, "")
	base, player, entry := words[0], words[1], words[2]
	where, err := url.Parse(base)
	if err != nil {
		stop(2, err.Error())
	}
	// A long poll takes up to 30 s. The arena delays too frequent requests by up to 10 s more.
	client := http.Client{Timeout: 45 * time.Second}
	if where.Scheme != "https" {
		if where.Hostname() != "127.0.0.1" && where.Hostname() != "localhost" {
			if !insecure {
				stop(1, "Others could read the password in transit: use https://, or --insecure in a network that you trust.")
			}
			fmt.Fprintln(os.Stderr, "Warning: others in this network can read the password.")
		}
		client.Transport = &http.Transport{} // this machine and this network need no proxy
	}
	wish := "all its matches"
	if entry == "--practice" {
		wish = "a practice match"
	} else if entry != "" {
		wish = "matches with the tag " + entry
	}
	fmt.Printf("Player %s waits for %s at %s\n", player, wish, base)
	bot := Bot{
		matches:  strings.TrimRight(base, "/") + "/api/matches",
		player:   player,
		password: password,
		http:     client,
		seats:    map[string]int{},
	}
	bot.play(entry)
}
