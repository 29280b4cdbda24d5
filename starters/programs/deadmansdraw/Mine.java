// My player for Dead Man's Draw, in Java 17 without any library. Try it:
//
//   cardsharp play --strategy "java Mine.java"      # a match
//   cardsharp show last                             # every turn, and why
//   cardsharp lab duel "java Mine.java" draw-3      # how strong is it?
//
// Each input line is a question in JSON, and each output line is the answer to it. A question
// contains everything you need, so nothing is remembered between questions. `cardsharp why` shows
// what you print to System.err.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

class Mine {
    static final double BOLDNESS = 0.3; // draw while a bust is not likelier; try other numbers

    public static void main(String[] arguments) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            System.out.println(Json.write(decide(object(Json.read(line)))));
        }
    }

    static Map<String, Object> decide(Map<String, Object> question) {
        var position = object(question.get("position"));
        var actions = list(question.get("actions"));
        if (position.get("pendingEffect") != null) { // answer a Hook, a Sword, a Map ...
            var highest = actions.stream().max(Comparator.comparingDouble(Mine::value)).get();
            return answer(highest, "The highest card that is offered.");
        }
        var draw = named("Draw", actions);
        var end = named("EndTurn", actions);
        if (end == null) {
            return answer(draw, "There is no choice.");
        }
        var risk = bustChance(position);
        return risk <= BOLDNESS
            ? answer(draw, "Only %.1f %% to bust.".formatted(100 * risk))
            : answer(end, "%.1f %% to bust is too much.".formatted(100 * risk));
    }

    /** Return the share of the unseen cards whose suit is already in the play area. */
    static double bustChance(Map<String, Object> position) {
        Set<Object> lying = new HashSet<>();
        list(position.get("playArea")).forEach(card -> lying.add(object(card).get("suit")));
        var unseen = list(position.get("unseen"));
        var bad = unseen.stream().filter(card -> lying.contains(object(card).get("suit"))).count();
        return (double) bad / Math.max(1, unseen.size());
    }

    /** Return the value of the card in an answer to an effect, or 0 if there is no card. */
    static double value(Object action) {
        var effect = object(object(action).get("effect"));
        var card = effect == null ? null : object(effect.get("card"));
        return card == null ? 0 : (double) card.get("value");
    }

    static Object named(String verb, List<Object> actions) {
        return actions.stream()
            .filter(action -> verb.equals(object(action).get("etype")))
            .findFirst().orElse(null);
    }

    static Map<String, Object> answer(Object action, String reason) {
        return Map.of("action", action, "reason", reason);
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object json) {
        return (Map<String, Object>) json;
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object json) {
        return (List<Object>) json;
    }
}

/** JSON parser and writer for Map, List, String, Double, Boolean and null; Java has none. */
class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object read(String text) {
        return new Json(text).value();
    }

    static String write(Object json) {
        if (json instanceof Map<?, ?> map) {
            var parts = new ArrayList<String>();
            map.forEach((key, value) -> parts.add(write(key) + ":" + write(value)));
            return "{" + String.join(",", parts) + "}";
        }
        if (json instanceof List<?> list) {
            return "[" + String.join(",", list.stream().map(Json::write).toList()) + "]";
        }
        if (json instanceof String string) {
            return '"' + string.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
        }
        if (json instanceof Double number && number == Math.rint(number)) {
            return String.valueOf(number.longValue());
        }
        return String.valueOf(json);
    }

    private Object value() {
        return switch (next()) {
            case '{' -> map();
            case '[' -> list();
            case '"' -> string();
            default -> word();
        };
    }

    private Map<String, Object> map() {
        var map = new LinkedHashMap<String, Object>();
        at++;
        while (next() != '}') {
            var key = string();
            next();
            at++; // the colon
            map.put(key, value());
            if (next() == ',') at++;
        }
        at++;
        return map;
    }

    private List<Object> list() {
        var list = new ArrayList<Object>();
        at++;
        while (next() != ']') {
            list.add(value());
            if (next() == ',') at++;
        }
        at++;
        return list;
    }

    private String string() {
        var string = new StringBuilder();
        for (at++; text.charAt(at) != '"'; at++) {
            if (text.charAt(at) != '\\') {
                string.append(text.charAt(at));
            } else if (text.charAt(++at) == 'u') {
                string.append((char) Integer.parseInt(text.substring(at + 1, at += 5), 16));
                at--;
            } else {
                string.append("\b\f\n\r\t".charAt(Math.max(0, "bfnrt".indexOf(text.charAt(at)))));
            }
        }
        at++;
        return string.toString();
    }

    private Object word() {
        var start = at;
        while (at < text.length() && ",]} ".indexOf(text.charAt(at)) < 0) at++;
        var word = text.substring(start, at);
        return switch (word) {
            case "true" -> true;
            case "false" -> false;
            case "null" -> null;
            default -> Double.valueOf(word);
        };
    }

    private char next() {
        while (text.charAt(at) == ' ') at++;
        return text.charAt(at);
    }
}
