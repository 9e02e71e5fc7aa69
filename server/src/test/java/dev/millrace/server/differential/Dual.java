package dev.millrace.server.differential;

import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A piece of SQL in our dialect and in DuckDB's. Where they differ is decided where a piece is made, nowhere else.
 *
 * @param ours for Millrace
 * @param duck for the oracle
 */
record Dual(String ours, String duck) {
    /** The same text in both. */
    static Dual same(String text) {
        return new Dual(text, text);
    }

    /** One template for both, in which each {@code {}} stands for the next part. */
    static Dual of(String template, Dual... parts) {
        return of(template, template, parts);
    }

    /** A template each. */
    static Dual of(String oursTemplate, String duckTemplate, Dual... parts) {
        return new Dual(
                fill(oursTemplate, Arrays.stream(parts).map(Dual::ours).toList()),
                fill(duckTemplate, Arrays.stream(parts).map(Dual::duck).toList()));
    }

    static Dual join(String separator, List<Dual> parts) {
        return new Dual(join(separator, parts, Dual::ours), join(separator, parts, Dual::duck));
    }

    Dual then(Dual next) {
        return new Dual(ours + next.ours, duck + next.duck);
    }

    Dual then(String next) {
        return then(same(next));
    }

    private static String join(String separator, List<Dual> parts, Function<Dual, String> side) {
        return parts.stream().map(side).collect(Collectors.joining(separator));
    }

    private static String fill(String template, List<String> parts) {
        StringBuilder text = new StringBuilder();
        int part = 0;
        int at = 0;
        for (int next = template.indexOf("{}"); next >= 0; next = template.indexOf("{}", at)) {
            text.append(template, at, next).append(parts.get(part++));
            at = next + 2;
        }
        if (part != parts.size()) {
            throw new IllegalArgumentException(parts.size() + " parts for " + template);
        }
        return text.append(template.substring(at)).toString();
    }
}
