package dev.millrace.sql.bind.expression;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.plan.function.FunctionCatalog;
import dev.millrace.plan.function.Signature;
import dev.millrace.plan.function.Signature.Parameter;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.type.DataType.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Keeps docs/function-list.md complete: a line for each function that a statement can call. What is said of one is written
 * by hand; its name and arguments come from the catalog, and {@code -Dmillrace.golden.update=true} writes them anew.
 */
class FunctionListTest {
    private static final Path LIST = Path.of("../docs/function-list.md");
    private static final Pattern LINE = Pattern.compile("\\| `([a-z_0-9]+)(?:\\(.*?)?` \\| (.*) \\|");
    private static final String UNSAID = "?";

    /** What other functions are short for, and nobody would call. */
    private static final Set<String> PARTS = Set.of(
            "array_increase",
            "array_weighted_avg",
            "at_most_one_row",
            "bound_abs_high",
            "bound_abs_low",
            "bound_add_high",
            "bound_add_low",
            "bound_distance",
            "bound_divide_high",
            "bound_divide_low",
            "bound_high",
            "bound_low",
            "bound_multiply_high",
            "bound_multiply_low",
            "bound_negate_high",
            "bound_negate_low",
            "bound_real",
            "bound_real_high",
            "bound_real_low",
            "bound_root",
            "bound_scaled",
            "bound_top",
            "bound_within",
            "bound_total_high",
            "bound_total_low",
            "bound_whole_high",
            "bound_whole_low",
            "interval_of",
            "json_path_array",
            "json_path_exists",
            "json_path_first",
            "json_path_match",
            "proctime",
            "quote_text",
            "regexp_count_from",
            "regexp_extract",
            "regexp_part",
            "regexp_place",
            "regexp_replace_from",
            "sleep_seconds",
            "strptime_fits",
            "substring_regex",
            "whole_months");

    @Test
    void everyFunctionIsListed() throws IOException {
        List<String> lines = Files.readAllLines(LIST);
        Map<String, String> said = new TreeMap<>();
        int first = lines.size();
        for (int i = 0; i < lines.size(); i++) {
            Matcher line = LINE.matcher(lines.get(i));
            if (line.matches()) {
                said.put(line.group(1), line.group(2));
                first = Math.min(first, i);
            }
        }
        List<String> wanted = new ArrayList<>(lines.subList(0, first));
        for (String name : names()) {
            String meaning = sameAs(name).orElse(said.getOrDefault(name, UNSAID));
            wanted.add("| `" + name + arguments(name) + "` | " + meaning + " |");
        }
        if (Boolean.getBoolean("millrace.golden.update")) {
            Files.write(LIST, wanted);
        } else {
            assertEquals(String.join("\n", wanted), String.join("\n", lines), "-Dmillrace.golden.update=true helps");
        }
        List<String> unsaid = wanted.stream()
                .filter(line -> line.endsWith("| " + UNSAID + " |"))
                .toList();
        assertEquals(List.of(), unsaid, "say in docs/function-list.md what these give");
    }

    private static Set<String> names() {
        Set<String> names = new TreeSet<>(FunctionNames.all());
        names.removeAll(PARTS);
        return names;
    }

    private static Optional<String> sameAs(String name) {
        return Optional.ofNullable(FunctionCatalog.ALIASES.get(name)).map(other -> "as `" + other + "`");
    }

    /** The forms that the catalog has, those of as many arguments as one. */
    private static String arguments(String name) {
        Map<Integer, List<Signature>> byCount = new TreeMap<>(FunctionCatalog.overloads(name).stream()
                .filter(overload -> FunctionResolver.canonical(name).isPresent())
                .filter(overload -> overload.parameters().stream() // to SQL the same as NUMERIC
                        .noneMatch(parameter -> parameter.kind().equals(Optional.of(Kind.BIGNUM))))
                .collect(Collectors.groupingBy(overload -> overload.parameters().size())));
        return byCount.values().stream().map(FunctionListTest::form).collect(Collectors.joining(" or "));
    }

    private static String form(List<Signature> overloads) {
        StringBuilder form = new StringBuilder("(");
        Signature any = overloads.get(0);
        for (int i = 0; i < any.parameters().size(); i++) {
            Set<String> types = new LinkedHashSet<>();
            for (Signature overload : overloads) {
                types.add(type(overload.parameters().get(i)));
            }
            String text = (i > 0 ? ", " : "") + String.join("/", types);
            form.append(any.parameters().get(i).optional() ? "[" + text + "]" : text);
        }
        return form.append(any.variadic() ? ", ..)" : ")").toString();
    }

    private static String type(Parameter parameter) {
        Optional<Kind> kind = parameter.isArray() ? parameter.element() : parameter.kind();
        String name = kind.map(known -> known.name().toLowerCase(Locale.ROOT)).orElse("any");
        return parameter.isArray() ? name + "[]" : name;
    }
}
