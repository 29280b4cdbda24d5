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

/** Plays Dead Man's Draw at an arena: java Bot.java URL ID [TAG | --practice] */
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

    /** Play one match against the dummy and return its result. */
    String practise() throws InterruptedException {
        String body = "{\"playerids\": [\"" + player + "\", \"" + "0".repeat(24) + "\"]}";
        String match = null;
        while (true) {
            try {
                if (match == null) {
                    match = matches + "/" + ((Map<?, ?>) ask(matches, body).json()).get("id");
                }
                Answer answer = ask(match + "?waitactive=1", null);
                Map<?, ?> view = (Map<?, ?>) answer.json();
                if (answer.status == 410) {
                    Object winner = ((Map<?, ?>) view.get("state")).get("winnerIdx");
                    return winner == null ? "drawn" : winner.equals(0L) ? "won" : "lost";
                }
                if (answer.status == 200) ask(match, decide(view));
            } catch (IOException error) {
                rest(error);
            }
        }
    }

    /** Play all matches with the tag, forever. */
    void serve(String tag) throws InterruptedException {
        String named = tag.isEmpty() ? "" : "&tags=" + URLEncoder.encode(tag, StandardCharsets.UTF_8);
        while (true) {
            try {
                for (Object match : (List<?>) ask(matches + "?active=1&wait=1" + named, null).json()) {
                    ask(matches + "/" + ((Map<?, ?>) match).get("_id"), decide((Map<?, ?>) match));
                }
            } catch (IOException error) {
                rest(error);
            }
        }
    }

    /** Wait a second after an error; the next request shows whether the action was applied. */
    static void rest(IOException error) throws InterruptedException {
        String why = error.getMessage();
        System.out.println(why == null ? "The arena does not answer: " + error : why);
        Thread.sleep(1000);
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
            throw new IOException(status + " " + answer.body());
        }
        return new Answer(status, answer.body());
    }

    static void stop(int code, String why) {
        System.err.println(why);
        System.exit(code);
    }

    public static void main(String[] given) throws InterruptedException {
        String password = System.getenv("ARENA_PASSWORD");
        if (given.length < 2 || given.length > 3 || password == null) {
            stop(2, "java Bot.java URL ID [TAG | --practice]; set ARENA_PASSWORD to the password.");
        }
        URI where = URI.create(given[0]);
        if (!"https".equals(where.getScheme())
            && !List.of("127.0.0.1", "localhost").contains(String.valueOf(where.getHost()))) {
            stop(1, "Others could read the password in transit; use https://.");
        }
        Bot bot = new Bot(given[0], given[1], password);
        String entry = given.length == 3 ? given[2] : "";
        if (entry.equals("--practice")) System.out.println(bot.practise());
        else bot.serve(entry);
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
