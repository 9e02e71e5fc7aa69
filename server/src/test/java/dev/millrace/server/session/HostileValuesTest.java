package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Every function of docs/function-list.md over values at the ends of their types: it answers, or says what is wrong with them; no
 * error is one of ours. {@code -Dmillrace.values.draws=N} calls each so many times (4), {@code -Dmillrace.values.seed=S} draws
 * others, {@code -Dmillrace.values.only=NAME} one alone.
 */
class HostileValuesTest {
    private static final Path LIST = Path.of("../docs/function-list.md");
    private static final Pattern LINE = Pattern.compile("\\| `([a-z_0-9]+)(.*?)` \\| .*");
    private static final int DRAWS = Integer.getInteger("millrace.values.draws", 4);
    private static final long SEED = Long.getLong("millrace.values.seed", 1);
    private static final String ONLY = System.getProperty("millrace.values.only", "");
    private static final Set<String> SLEEPING = Set.of("pg_sleep", "pg_sleep_for", "pg_sleep_until");

    private static final Map<String, List<String>> VALUES = new TreeMap<>(Map.ofEntries(
            values("smallint", "-32768", "32767", "0", "-1"),
            values("integer", "-2147483648", "2147483647", "0", "-1", "1", "3", "64"),
            values("bigint", "-9223372036854775808", "9223372036854775807", "0", "-1", "1", "100"),
            values(
                    "numeric",
                    "99999999999999999999999999999999999999",
                    "-99999999999999999999999999999999999999",
                    "0.00000000000000000000000000000000000001",
                    "0",
                    "-1",
                    "0.5",
                    "NaN"),
            values("real", "NaN", "Infinity", "-Infinity", "3.4e38", "1e-45", "-0", "0.5"),
            values("double", "NaN", "Infinity", "-Infinity", "1.7976931348623157e308", "4.9e-324", "-0", "-1", "2.5"),
            values("boolean", "true", "false"),
            values(
                    "text",
                    "",
                    " ",
                    "ä€𝄞",
                    "\\",
                    "%",
                    "(",
                    "[",
                    "{",
                    "a{2,1}",
                    "NaN",
                    "1e999999",
                    "infinity",
                    "-1",
                    "century",
                    "epoch",
                    "microseconds",
                    "UTC",
                    "+99:99",
                    "YYYY-MM-DD HH24:MI:SS.US TZH:TZM",
                    "FM999D99EEEE",
                    "RN",
                    "99V99",
                    "SG9999PR",
                    "TH",
                    "%Y-%m-%d %H",
                    "%I %L %s %1$s",
                    "%999999999999s",
                    "base64",
                    "hex",
                    "escape",
                    "NFKD",
                    "UTF8",
                    "$.a[*] ? (@ > 1)",
                    "g",
                    "x",
                    "1 month",
                    "2026-11-22",
                    "{\"a\":1}",
                    "0x7fffffff",
                    "::",
                    "1,2"),
            values("bytea", "", "\\xff00", "\\x00", "\\xc3"),
            values(
                    "date",
                    "0001-01-01",
                    "9999-12-31",
                    "2026-02-28",
                    "infinity",
                    "-infinity",
                    "4713-01-01 BC",
                    "5874897-12-31"),
            values(
                    "timestamp",
                    "0001-01-01",
                    "294246-12-31 23:59:59.999999",
                    "2026-02-28 23:59:59.999999",
                    "infinity",
                    "-infinity",
                    "4713-01-01 BC"),
            values(
                    "timestamptz",
                    "0001-01-01 00:00+15",
                    "294246-12-31 23:59:59.999999+00",
                    "2026-03-29 01:30:00+01",
                    "infinity",
                    "-infinity"),
            values("time", "00:00", "24:00", "23:59:59.999999"),
            values(
                    "interval",
                    "178000000 years",
                    "-178000000 years",
                    "1 month -1 day 1 microsecond",
                    "0",
                    "2147483647 days",
                    "-2147483648 days",
                    "9223372036854 seconds",
                    "-1 microsecond",
                    "infinity"),
            values("uuid", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
            values("jsonb", "null", "{}", "[]", "\"\"", "1e400", "-0", "{\"a\":[1,{\"b\":null}]}", "[[[[1]]]]", "true"),
            values("integer[]", "{}", "{NULL}", "{1,2,3}", "{-2147483648,2147483647}", "{{1},{2}}"),
            values("text[]", "{}", "{NULL}", "{\"\",x}", "{a,b,a}"),
            values("double[]", "{}", "{NULL}", "{NaN,Infinity,-Infinity}", "{0,-0,1.7976931348623157e308}"),
            values("boolean[]", "{}", "{NULL}", "{t,f}")));
    private static final List<String> TYPES = List.copyOf(VALUES.keySet());

    private static Map.Entry<String, List<String>> values(String type, String... texts) {
        return Map.entry(type, List.of(texts));
    }

    private final Random random = new Random(SEED);

    private String value(String types) {
        String[] choice = types.trim().split("/");
        String type = choice[random.nextInt(choice.length)];
        if (type.startsWith("any")) {
            List<String> fitting = TYPES.stream()
                    .filter(known -> known.endsWith("[]") == type.endsWith("[]"))
                    .toList();
            return value(fitting.get(random.nextInt(fitting.size())));
        }
        List<String> texts = VALUES.getOrDefault(type, List.of("1"));
        String sqlType = type.startsWith("double") ? type.replace("double", "double precision") : type;
        if (random.nextInt(8) == 0) {
            return "NULL::" + sqlType;
        }
        if (type.equals("text") && random.nextInt(10) == 0) {
            return "repeat('ab', " + (random.nextBoolean() ? 3000 : 0) + ")";
        }
        return "'" + texts.get(random.nextInt(texts.size())).replace("'", "''") + "'::" + sqlType;
    }

    /** Arguments as the list says them, {@code (text, integer[, text]) or (any, ..)}; any at all of what it says nothing. */
    private List<String> arguments(String said) {
        List<String> arguments = new ArrayList<>();
        if (said.isBlank()) {
            int count = random.nextInt(4);
            for (int i = 0; i < count; i++) {
                arguments.add(value(TYPES.get(random.nextInt(TYPES.size()))));
            }
            return arguments;
        }
        String[] forms = said.split(" or ");
        String form = forms[random.nextInt(forms.length)].trim();
        String inner = form.substring(1, form.length() - 1);
        boolean all = random.nextBoolean();
        int optional = inner.indexOf("[, ") >= 0 ? inner.indexOf("[, ") : inner.startsWith("[any]") ? 0 : -1;
        if (optional >= 0) {
            inner = all
                    ? inner.replaceAll("\\[, (.*)\\]$", ", $1").replace("[any]", "any")
                    : inner.substring(0, optional);
        }
        String last = "any";
        for (String part : inner.split(",")) {
            if (part.isBlank()) {
                continue;
            }
            boolean more = part.trim().startsWith("..");
            last = more ? last : part.trim().replaceAll("^\\[|(?<!\\[)\\]$", "");
            arguments.add(value(last));
        }
        return arguments;
    }

    private String call(String name, String said) {
        String arguments = String.join(", ", arguments(said));
        String call = name + "(" + arguments + ")";
        return switch (random.nextInt(6)) {
            case 0 -> "SELECT " + call + " FROM generate_series(1, 3) AS g(i)";
            case 1 -> "SELECT " + call + " OVER (ORDER BY i) FROM generate_series(1, 3) AS g(i)";
            case 2 ->
                "SELECT " + name + "(" + (arguments.isEmpty() ? "" : arguments + ", ")
                        + "i) FROM generate_series(-1, 1) AS g(i)";
            default -> "SELECT " + call;
        };
    }

    private static Map<String, String> functions() throws IOException {
        Map<String, String> functions = new TreeMap<>();
        for (String line : Files.readAllLines(LIST)) {
            Matcher matcher = LINE.matcher(line);
            if (matcher.matches()
                    && !SLEEPING.contains(matcher.group(1))
                    && (ONLY.isEmpty() || ONLY.equals(matcher.group(1)))) {
                functions.put(matcher.group(1), matcher.group(2).equals("()") ? "" : matcher.group(2));
            }
        }
        return functions;
    }

    /** Whether a failure is not of the values: an error of ours, or what is thrown where none should be. */
    private static boolean isOurs(Throwable failure) {
        return !(failure instanceof MillraceException error) || error.sqlState() == SqlState.INTERNAL_ERROR;
    }

    @Test
    void noFunctionHasAnErrorOfItsOwn() throws IOException {
        Map<String, String> functions = functions();
        assertTrue(ONLY.isEmpty() ? functions.size() > 400 : functions.size() == 1, "functions: " + functions.size());
        List<String> found = new ArrayList<>();
        Set<String> answered = new TreeSet<>();
        try (TestDatabase db = new TestDatabase(1)) {
            db.run("SET statement_timeout = '5s'");
            for (Map.Entry<String, String> function : functions.entrySet()) {
                for (int i = 0; i < DRAWS; i++) {
                    String sql = call(function.getKey(), function.getValue());
                    try {
                        db.run(sql);
                        answered.add(function.getKey());
                    } catch (Throwable failure) {
                        if (isOurs(failure)) {
                            found.add(sql + "\n    " + failure);
                        }
                    }
                }
            }
            assertEquals(List.of("1"), db.rows("SELECT 1"));
        }
        assertTrue(
                !ONLY.isEmpty() || answered.size() > functions.size() / 3, "only these answered at all: " + answered);
        assertTrue(found.isEmpty(), found.size() + " (seed " + SEED + "):\n" + String.join("\n", found));
    }
}
