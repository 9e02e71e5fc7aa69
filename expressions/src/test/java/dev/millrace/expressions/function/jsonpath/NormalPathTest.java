package dev.millrace.expressions.function.jsonpath;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Paths in PostgreSQL's normal form; the expected forms are PostgreSQL 15's. */
class NormalPathTest {
    private static String normal(String path) {
        return NormalPath.of(PathParser.parse(path));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "lax $.room.temp ; $.\"room\".\"temp\"",
                "STRICT $ [ * ] . * ; strict $[*].*",
                "$.** ; $.**",
                "$.**{3}.a ; $.**{3}.\"a\"",
                "$.**{1 to LAST} ; $.**{1 to last}",
                "$.**{0 to last} ; $.**",
                "$.last.size.SIZE() ; $.\"last\".\"size\".size()",
                "$[0,2 to last - 1, $i + 1] ; $[0,2 to last - 1,$\"i\" + 1]",
                "$.a?(@.b<>2||@.c==null&&true==@.d) ; $.\"a\"?(@.\"b\" != 2 || @.\"c\" == null && true == @.\"d\")",
                "$?((@.a==1||@.b==2)&&@.c==3) ; $?((@.\"a\" == 1 || @.\"b\" == 2) && @.\"c\" == 3)",
                "$?(!exists(@.a[*]?(@>1))) ; $?(!(exists (@.\"a\"[*]?(@ > 1))))",
                "$?((@.a>1)is unknown) ; $?((@.\"a\" > 1) is unknown)",
                "$?(@ starts with \"ro\"&&@ like_regex \"^r\" flag \"ssi\") ; $?(@ starts with \"ro\" && @ like_regex \"^r\" flag \"is\")",
                "1+2*3 ; (1 + 2 * 3)",
                "(1+2)*3 ; ((1 + 2) * 3)",
                "1-(2-3) ; (1 - (2 - 3))",
                "-$.a + - -2.50 ; (-$.\"a\" + 2.50)",
                "-(+$.a) ; (-(+$.\"a\"))",
                "($.a > 1).type() ; ($.\"a\" > 1).type()",
                "1..abs() + .5e1 - 2.E-2 ; (((1).abs() + 5) - 0.02)",
                "\"\\x41\\u0042\\u{43}\\z\\t\\v/\" ; \"ABCz\\t\\u000b/\"",
                "\"\\ud83d\\ude00\\u{1F600}\" ; \"\ud83d\ude00\ud83d\ude00\"",
                "$ab\\x63~d.e'f ; $\"abc~d\".\"e'f\"",
                "$ /* the root */ . a ; $.\"a\"",
                "$.keyvalue().key ; $.keyvalue().\"key\"",
                "$.datetime ( \"HH24:MI\" ) ; $.datetime(\"HH24:MI\")",
            })
    void isPostgres(String path, String expected) {
        assertEquals(expected, normal(path));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "`` ; 22P02 ; invalid input syntax for type jsonpath: \"\"",
                "$. ; 42601 ; syntax error at end of jsonpath input",
                "$ /* no end ; 42601 ; unexpected end of comment at end of jsonpath input",
                "$.a == \"b ; 42601 ; unterminated quoted string at end of jsonpath input",
                "$.a == \"b\\ ; 42601 ; unexpected end after backslash at end of jsonpath input",
                "\"\\xg1\" ; 42601 ; invalid Unicode escape sequence in jsonpath input",
                "\"\\u12\" ; 42601 ; invalid Unicode escape sequence in jsonpath input",
                "\"\\u{1234567}\" ; 42601 ; invalid Unicode escape sequence in jsonpath input",
                "\"\\u{110000}\" ; 42601 ; invalid Unicode escape sequence in jsonpath input",
                "\"\\ude00\" ; 42601 ; invalid Unicode escape sequence in jsonpath input",
                "\"\\ud83dx\" ; 42601 ; invalid Unicode escape sequence in jsonpath input",
                "\"\\ud83d\\u0041\" ; 42601 ; invalid Unicode escape sequence in jsonpath input",
                "\"\\u0000\" ; 22P05 ; unsupported Unicode escape sequence: \\u0000 cannot be converted to text",
                "@ ; 42601 ; @ is not allowed in root expressions",
                "last ; 42601 ; LAST is allowed only in array subscripts",
                "1.abs() ; 42601 ; trailing junk after numeric literal at or near \"1.a\" of jsonpath input",
                "07 ; 42601 ; trailing junk after numeric literal at or near \"07\" of jsonpath input",
                "2e ; 42601 ; trailing junk after numeric literal at or near \"2e\" of jsonpath input",
                "$.**{99999999999} ; 42601 ; syntax error at or near \"}\" of jsonpath input",
                "TRUE ; 42601 ; syntax error at or near \"TRUE\" of jsonpath input",
                "$?(@ like_regex \"(\") ; 2201B ; invalid regular expression: parentheses () not balanced",
                "$?(@ like_regex \"a\" flag \"y\") ; 22P02 ; unrecognized flag character \"y\" in LIKE_REGEX predicate",
                "$?(@ like_regex \"a\" flag \"x\") ; 0A000 ; the flag \"x\" of like_regex is not available yet",
            })
    void isNoPath(String path, String state, String message) {
        MillraceException error = assertThrows(MillraceException.class, () -> PathParser.parse(path));
        assertEquals(state + " " + message, error.sqlState().code() + " " + error.getMessage());
    }

    @Test
    void isReadAsTheSamePath() {
        for (long seed = 0; seed < 3000; seed++) {
            String path = new RandomPath(new Random(seed)).path();
            JsonPath parsed = assertDoesNotThrow(() -> PathParser.parse(path), path);
            String normal = NormalPath.of(parsed);
            JsonPath again = PathParser.parse(normal);
            assertEquals(parsed, again, "seed " + seed + ": " + path + " is written as " + normal);
            assertEquals(normal, NormalPath.of(again), "seed " + seed);
        }
    }

    @Test
    void refusesWhatIsNestedTooDeeply() {
        JsonPath path = PathParser.parse("$" + ".a".repeat(100_000));
        assertEquals(
                SqlState.STATEMENT_TOO_COMPLEX,
                assertThrows(MillraceException.class, () -> NormalPath.of(path)).sqlState());
    }

    /** Paths of all forms but regular expressions, which are equal to none. Brackets stand where the grammar asks for them, or more. */
    private static final class RandomPath {
        private final Random random;

        RandomPath(Random random) {
            this.random = random;
        }

        String path() {
            return pick("", "lax ", "strict ")
                    + (random.nextBoolean() ? expression(4, false, false) : predicate(4, false, false));
        }

        private String pick(String... from) {
            return from[random.nextInt(from.length)];
        }

        private String expression(int depth, boolean filtered, boolean subscripted) {
            if (depth == 0) {
                return pick(
                        "$",
                        "$v",
                        filtered ? "@" : "$",
                        subscripted ? "last" : "1",
                        "2.5",
                        "\"x\"",
                        "true",
                        "null",
                        "-3");
            }
            int below = depth - 1;
            return switch (random.nextInt(8)) {
                case 0 ->
                    "(" + expression(below, filtered, subscripted) + pick(" + ", "-", " * ", " / ", "%")
                            + expression(below, filtered, subscripted) + ")";
                case 1 ->
                    expression(below, filtered, subscripted)
                            + pick("+", " - ", " * ", "/", "%")
                            + step(below, filtered, subscripted);
                case 2 -> pick("-", "+") + step(below, filtered, subscripted);
                case 3 -> "(" + predicate(below, filtered, subscripted) + ")" + pick(".type()", ".\"a b\"", "[0]");
                default -> step(below, filtered, subscripted);
            };
        }

        private String step(int depth, boolean filtered, boolean subscripted) {
            if (depth == 0) {
                return expression(0, filtered, subscripted);
            }
            return "(" + expression(depth - 1, filtered, subscripted) + ")"
                    + switch (random.nextInt(6)) {
                        case 0 -> "?(" + predicate(depth - 1, true, subscripted) + ")";
                        case 1 -> "[" + expression(depth - 1, filtered, true) + pick("", " to 3", ",last") + "]";
                        case 2 -> pick(".**", ".**{2}", ".**{1 to last}", ".*", "[*]");
                        case 3 -> pick(".size()", ".abs()", ".datetime(\"HH\")");
                        default -> pick(".a", ".\"b\\\"c\"", ".last", ".type");
                    };
        }

        private String predicate(int depth, boolean filtered, boolean subscripted) {
            int below = Math.max(0, depth - 1);
            return switch (depth == 0 ? 5 : random.nextInt(8)) {
                case 0 ->
                    "(" + predicate(below, filtered, subscripted) + ") && (" + predicate(below, filtered, subscripted)
                            + ")";
                case 1 ->
                    "(" + predicate(below, filtered, subscripted) + " || " + predicate(below, filtered, subscripted)
                            + ")";
                case 2 -> "!(" + predicate(below, filtered, subscripted) + ")";
                case 3 -> "(" + predicate(below, filtered, subscripted) + ") is unknown";
                case 4 -> "exists(" + expression(below, filtered, subscripted) + ")";
                default ->
                    expression(below, filtered, subscripted)
                            + pick(" == ", "!=", "<>", "<", "<=", " > ", ">=")
                            + expression(below, filtered, subscripted);
                case 7 -> expression(below, filtered, subscripted) + " starts with " + pick("\"x\"", "$v");
            };
        }
    }
}
