import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Plays Dead Man's Draw at an arena: java Bot.java URL ID [TAG | --practice] [--insecure] */
public class Bot {
    /** A long poll takes up to 30 s. The arena delays too frequent requests by up to 10 s more. */
    static final Duration LIMIT = Duration.ofSeconds(45);

    /** Your strategy: return the action for your turn in a match. This one stops at three cards. */
    static String decide(Map<?, ?> match) {
        List<?> cards = (List<?>) ((Map<?, ?>) match.get("state")).get("playArea");
        String verb = cards.size() >= 3 ? "EndTurn" : "Draw";
        return "{\"etype\": \"" + verb + "\", \"autopick\": true}";
    }

    final HttpClient http =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    final String matches;
    final String player;
    final String credentials;

    Bot(String url, String player, String password) {
        this.matches = url.replaceAll("/+$", "") + "/api/matches";
        this.player = player;
        byte[] pair = (player + ":" + password).getBytes(StandardCharsets.UTF_8);
        this.credentials = "Basic " + Base64.getEncoder().encodeToString(pair);
    }

    /** Your seat, 0 or 1, in each match that runs. */
    final Map<String, Integer> seats = new LinkedHashMap<>();
    boolean isLost = false;

    /** Play all matches with the tag forever, or one match against the dummy to its end. */
    void play(String entry) throws InterruptedException {
        boolean practises = entry.equals("--practice");
        String body = "{\"playerids\": [\"" + player + "\", \"" + "0".repeat(24) + "\"]}";
        String tags = entry.isEmpty() ? "" : "&tags=" + URLEncoder.encode(entry, StandardCharsets.UTF_8);
        String look = practises ? null : matches + "?active=1&wait=1" + tags;
        while (true) {
            try {
                if (look == null) {
                    Object id = ((Map<?, ?>) ask(matches, body).json()).get("id");
                    look = matches + "/" + id + "?waitactive=1";
                }
                Answer answer = ask(look, null);
                if (isLost) System.out.println("The arena answers again.");
                isLost = false;
                List<?> found = answer.status != 200 ? List.of()
                    : practises ? List.of(answer.json()) : (List<?>) answer.json();
                begin(found);
                if (answer.status == 410) return;
                for (Object match : found) {
                    Map<?, ?> view = (Map<?, ?>) match;
                    ask(matches + "/" + view.get("_id"), decide(view));
                }
            } catch (IOException error) {
                rest(error);
            }
        }
    }

    /** Report the matches that are new, and those that may be over since. */
    void begin(List<?> found) throws IOException, InterruptedException {
        Map<String, Integer> fresh = new LinkedHashMap<>();
        for (Object match : found) {
            Map<?, ?> view = (Map<?, ?>) match;
            String id = (String) view.get("_id");
            if (!seats.containsKey(id)) fresh.put(id, ((List<?>) view.get("playerids")).indexOf(player));
        }
        if (!fresh.isEmpty() || found.isEmpty()) {
            for (String match : List.copyOf(seats.keySet())) {
                if (report(match, seats.get(match), false)) seats.remove(match);
            }
        }
        for (String match : fresh.keySet()) {
            report(match, fresh.get(match), true);
            seats.put(match, fresh.get(match));
        }
    }

    /** Print that a match begins, or its result if it is over; return true if it is over. */
    boolean report(String id, int seat, boolean begins) throws IOException, InterruptedException {
        Map<?, ?> match = (Map<?, ?>) ask(matches + "/" + id + "?condensed=1", null).json();
        List<?> names = (List<?>) match.get("playernames"), data = (List<?>) match.get("playerdata");
        Map<?, ?> mine = (Map<?, ?>) data.get(seat), other = (Map<?, ?>) data.get(1 - seat);
        String title = "Match " + id + ", " + names.get(0) + " against " + names.get(1) + ": ";
        boolean isOver = (Boolean) match.get("finished");
        if (begins) {
            System.out.println(title + "begins");
        } else if (isOver) {
            String result = (Boolean) mine.get("winner") ? "won"
                : (Boolean) other.get("winner") ? "lost" : "drawn";
            System.out.println(title + result + " " + mine.get("bankvalue") + ":" + other.get("bankvalue"));
        }
        return isOver;
    }

    /** Wait a second after an error; the next request shows whether the action was applied. */
    void rest(IOException error) throws InterruptedException {
        String why = error instanceof Refused ? error.getMessage() : "";
        if (why.startsWith("404")) seats.clear(); // a restarted arena may have lost its matches
        if (why.startsWith("4")) {
            System.out.println(why);
        } else if (!isLost) {
            String reason = why.isEmpty() ? error.getClass().getSimpleName() : why.substring(0, 3);
            System.out.println("The arena does not answer (" + reason + "). Trying again every second.");
            isLost = true;
        }
        Thread.sleep(1000);
    }

    /** An answer with another status than those of the API's success. */
    static class Refused extends IOException {
        Refused(String message) {
            super(message);
        }
    }

    record Answer(int status, String text) {
        Object json() {
            return new Json(text).value();
        }
    }

    /** Send a request and return the response: 200, 409 (not your turn) or 410 (match over). */
    Answer ask(String url, String body) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url)).timeout(LIMIT)
            .header("Authorization", credentials).header("Content-Type", "application/json");
        if (body != null) request.POST(HttpRequest.BodyPublishers.ofString(body));
        HttpResponse<String> answer =
            http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        int status = answer.statusCode();
        if (status == 401) stop(1, answer.body() + ": are ID and ARENA_PASSWORD right?");
        if (answer.headers().firstValue("X-SlowDown-Remaining").orElse("").equals("0")) {
            Thread.sleep(1000);
        }
        if (status != 200 && status != 409 && status != 410) {
            throw new Refused(status + " " + answer.body());
        }
        answer.headers().firstValue("X-Arena-Notice").ifPresent(System.out::println);
        return new Answer(status, answer.body());
    }

    static void stop(int code, String why) {
        System.err.println(why);
        System.exit(code);
    }

    public static void main(String[] given) throws InterruptedException {
        String password = System.getenv("ARENA_PASSWORD");
        List<String> words = new ArrayList<>(List.of(given));
        boolean insecure = words.removeIf("--insecure"::equals)
            || "1".equals(System.getenv("ARENA_INSECURE"));
        if (words.size() < 2 || words.size() > 3 || password == null) {
            stop(2, "java Bot.java URL ID [TAG | --practice] [--insecure]; "
                + "set ARENA_PASSWORD to the password.");
        }
        URI where = URI.create(words.get(0));
        if (!"https".equals(where.getScheme())
            && !List.of("127.0.0.1", "localhost").contains(String.valueOf(where.getHost()))) {
            if (!insecure) {
                stop(1, "Others could read the password in transit: use https://, "
                    + "or --insecure in a network that you trust.");
            }
            System.err.println("Warning: others in this network can read the password.");
        }
        String entry = words.size() == 3 ? words.get(2) : "";
        String wish = entry.equals("--practice") ? "a practice match"
            : entry.isEmpty() ? "all its matches" : "matches with the tag " + entry;
        System.out.println("Player " + words.get(1) + " waits for " + wish + " at " + words.get(0));
        new Bot(words.get(0), words.get(1), password).play(entry);
    }

    /** Parse JSON into maps, lists, strings, integers, other numbers, booleans and null. */
    static class Json {
        private final String text;
        private int at = 0;

        Json(String text) {
            this.text = text;
        }

        Object value() {
            return switch (next()) {
                case '{' -> object();
                case '[' -> list();
                case '"' -> string();
                case 't' -> word("true", true);
                case 'f' -> word("false", false);
                case 'n' -> word("null", null);
                default -> number();
            };
        }

        private char next() {
            while (Character.isWhitespace(text.charAt(at))) at++;
            return text.charAt(at);
        }

        private Object word(String word, Object value) {
            at += word.length();
            return value;
        }

        private Map<String, Object> object() {
            Map<String, Object> found = new LinkedHashMap<>();
            for (at++; next() != '}'; comma()) {
                String name = string();
                next();
                at++; // the colon
                found.put(name, value());
            }
            at++;
            return found;
        }

        private List<Object> list() {
            List<Object> found = new ArrayList<>();
            for (at++; next() != ']'; comma()) found.add(value());
            at++;
            return found;
        }

        private void comma() {
            if (next() == ',') at++;
        }

        private String string() {
            StringBuilder found = new StringBuilder();
            for (at++; text.charAt(at) != '"'; at++) {
                if (text.charAt(at) != '\\') {
                    found.append(text.charAt(at));
                } else if (text.charAt(++at) == 'u') {
                    found.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                    at += 4;
                } else {
                    int escape = "nrtbf".indexOf(text.charAt(at));
                    found.append(escape < 0 ? text.charAt(at) : "\n\r\t\b\f".charAt(escape));
                }
            }
            at++;
            return found.toString();
        }

        private Object number() {
            int start = at;
            while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
            String found = text.substring(start, at);
            if (found.matches("-?\\d+")) return Long.valueOf(found);
            return Double.valueOf(found);
        }
    }
}
