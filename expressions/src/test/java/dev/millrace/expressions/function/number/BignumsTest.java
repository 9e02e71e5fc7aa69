package dev.millrace.expressions.function.number;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.millrace.error.MillraceException;
import dev.millrace.expressions.function.Conversions;
import dev.millrace.expressions.function.Text;
import dev.millrace.number.BignumBytes;
import dev.millrace.text.ValueParser;
import dev.millrace.text.ValueWriter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Functions of numbers of any size against what PostgreSQL 15 answered, to the last digit: thousands of random calls, and
 * numbers that are written in odd ways. The file was made by a server.
 */
class BignumsTest {
    private static final String ANSWERS = "postgresql-15.txt";

    private record Answer(String function, String first, String second, String expected) {}

    @TestFactory
    Stream<DynamicTest> answersAreThoseOfPostgres() {
        Map<String, List<Answer>> byFunction = new TreeMap<>();
        for (Answer answer : answers()) {
            byFunction
                    .computeIfAbsent(answer.function(), name -> new ArrayList<>())
                    .add(answer);
        }
        return byFunction.entrySet().stream().map(entry -> dynamicTest(entry.getKey(), () -> check(entry.getValue())));
    }

    private static List<Answer> answers() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(
                Objects.requireNonNull(BignumsTest.class.getResourceAsStream(ANSWERS)), StandardCharsets.UTF_8))) {
            return in.lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.split("\\|", -1))
                    .map(parts -> new Answer(parts[0], parts[1], parts[2], parts[3]))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void check(List<Answer> answers) {
        List<String> wrong = new ArrayList<>();
        try (BufferAllocator allocator = new RootAllocator();
                Calls calls = new Calls(allocator)) {
            for (Answer answer : answers) {
                String found;
                try {
                    found = calls.answer(answer);
                } catch (MillraceException e) {
                    found = "ERROR " + e.sqlState().code();
                }
                if (!found.equals(answer.expected())) {
                    wrong.add(answer + " but gives " + found);
                }
            }
        }
        assertTrue(wrong.isEmpty(), () -> wrong.size() + " of " + answers.size() + ":\n" + String.join("\n", wrong));
    }

    private interface Unary {
        void of(long a, int aLength, Text out);
    }

    private interface Binary {
        void of(long a, int aLength, long b, int bLength, Text out);
    }

    private static final Map<String, Unary> UNARY = Map.ofEntries(
            Map.entry("negate", Bignums::negate),
            Map.entry("abs", Bignums::abs),
            Map.entry("sign", Bignums::sign),
            Map.entry("ceil", Bignums::ceil),
            Map.entry("floor", Bignums::floor),
            Map.entry("round", (a, length, out) -> Bignums.round(a, length, out)),
            Map.entry("trunc", (a, length, out) -> Bignums.trunc(a, length, out)),
            Map.entry("sqrt", Bignums::sqrt),
            Map.entry("exp", Bignums::exp),
            Map.entry("ln", Bignums::ln),
            Map.entry("log10", Bignums::log10),
            Map.entry("trim_scale", Bignums::trimScale),
            Map.entry("parse", (a, length, out) -> out.slice(a, length)));

    private static final Map<String, Binary> BINARY = Map.of(
            "add", Bignums::add,
            "subtract", Bignums::subtract,
            "multiply", Bignums::multiply,
            "divide", Bignums::divide,
            "mod", Bignums::mod,
            "div", Bignums::div,
            "gcd", Bignums::gcd,
            "lcm", Bignums::lcm,
            "log", Bignums::log,
            "power", Bignums::power);

    /** The arguments and the result of a call, in memory. */
    private static final class Calls implements AutoCloseable {
        private final ValueParser parser = new ValueParser();
        private final Text text;
        private final Text first;
        private final Text second;
        private final Text result;

        Calls(BufferAllocator allocator) {
            text = new Text(allocator);
            first = new Text(allocator);
            second = new Text(allocator);
            result = new Text(allocator);
        }

        private void read(String number, Text into) {
            text.begin().append(number.getBytes(StandardCharsets.UTF_8));
            text.written();
            Conversions.bignum(parser, text.address, text.length, into);
        }

        String answer(Answer answer) {
            String function = answer.function();
            if (function.equals("of_double")) {
                Bignums.ofDouble(Double.parseDouble(answer.first()), result);
                return shown();
            }
            if (function.equals("of_real")) {
                Bignums.ofReal(Float.parseFloat(answer.first()), result);
                return shown();
            }
            if (function.equals("factorial")) {
                Bignums.factorial(Long.parseLong(answer.first()), result);
                return shown();
            }
            read(answer.first(), first);
            if (UNARY.containsKey(function)) {
                UNARY.get(function).of(first.address, first.length, result);
                return shown();
            }
            switch (function) {
                case "scale", "min_scale" -> {
                    int scale = function.equals("scale")
                            ? BignumBytes.scale(first.address, first.length)
                            : BignumBytes.leastScale(first.address, first.length);
                    return BignumBytes.isFinite(first.address) ? Integer.toString(scale) : "NULL";
                }
                case "double" -> {
                    ValueWriter.float8(text.begin(), Bignums.toDouble(first.address, first.length));
                    text.written();
                    return text();
                }
                case "bigint" -> {
                    return Long.toString(Bignums.toBigint(first.address, first.length));
                }
                case "round_to" ->
                    Bignums.round(first.address, first.length, Integer.parseInt(answer.second()), result);
                case "trunc_to" ->
                    Bignums.trunc(first.address, first.length, Integer.parseInt(answer.second()), result);
                default -> {
                    read(answer.second(), second);
                    BINARY.get(function).of(first.address, first.length, second.address, second.length, result);
                }
            }
            return shown();
        }

        private String shown() {
            Conversions.ofBignum(result.address, result.length, text);
            return text();
        }

        private String text() {
            byte[] bytes = new byte[text.length];
            dev.millrace.memory.Memory.copyOut(text.address, bytes, 0, bytes.length);
            return new String(bytes, StandardCharsets.UTF_8);
        }

        @Override
        public void close() {
            text.close();
            first.close();
            second.close();
            result.close();
        }
    }
}
