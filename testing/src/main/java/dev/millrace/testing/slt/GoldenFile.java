package dev.millrace.testing.slt;

import dev.millrace.error.MillraceException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/** A golden file, run against a fresh session, statement by statement; see the package for its format. */
public final class GoldenFile {
    private static final boolean UPDATE = Boolean.getBoolean("millrace.golden.update");
    private static final Pattern HEADER =
            Pattern.compile("statement ok|query( rowsort)?|(?:statement|query) error ([0-9A-Z]{5})(?: (.*))?");
    private static final Pattern SPECIAL = Pattern.compile("[\\\\^$.|?*+()\\[\\]{}]");

    private final Path path;
    private final List<GoldenRecord> records;

    private GoldenFile(Path path, List<GoldenRecord> records) {
        this.path = path;
        this.records = records;
    }

    /** A test per {@code .slt} file below a folder, each with a session of its own. */
    public static Stream<DynamicTest> tests(Path folder, Supplier<SqlRunner> sessions) {
        try (Stream<Path> walk = Files.walk(folder)) {
            List<Path> files = walk.filter(file -> file.toString().endsWith(".slt"))
                    .sorted()
                    .toList();
            return files.stream()
                    .map(file -> DynamicTest.dynamicTest(folder.relativize(file).toString(), () -> {
                        try (SqlRunner session = sessions.get()) {
                            read(file).run(session);
                        }
                    }));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static GoldenFile read(Path path) {
        try {
            return new GoldenFile(path, GoldenRecord.parse(Files.readAllLines(path)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs all records; the first that differs fails, or all are updated. */
    void run(SqlRunner session) {
        List<String> updated = new ArrayList<>();
        for (GoldenRecord each : records) {
            GoldenRecord now = each.header().isEmpty() ? each : run(each, session);
            if (!UPDATE && !now.equals(each)) {
                throw new AssertionError(difference(each, now));
            }
            now.appendTo(updated);
        }
        if (UPDATE) {
            try {
                Files.write(path, updated);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** The record as it ought to be, after what came: equal to the given one if that was right. */
    private GoldenRecord run(GoldenRecord wanted, SqlRunner session) {
        Matcher header = HEADER.matcher(wanted.header());
        if (!header.matches()) {
            throw new AssertionError(path + ":" + wanted.line() + ": unknown record \"" + wanted.header() + "\"");
        }
        List<List<Optional<String>>> rows;
        try {
            rows = session.run(wanted.sql());
        } catch (MillraceException e) {
            return failed(wanted, header, e);
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError(path + ":" + wanted.line() + ": " + e + "\n" + wanted.sql(), e);
        }
        if (wanted.expectsError()) {
            return rows.isEmpty()
                    ? wanted.withHeader("statement ok")
                    : wanted.withHeader("query").withExpected(lines(rows, false));
        }
        return wanted.isQuery() ? wanted.withExpected(lines(rows, wanted.sortsRows())) : wanted;
    }

    private static GoldenRecord failed(GoldenRecord wanted, Matcher header, MillraceException error) {
        String code = error.sqlState().code();
        String message =
                error.getMessage() + error.hint().map(hint -> "; " + hint).orElse("");
        String pattern = Optional.ofNullable(header.group(3)).orElse("");
        if (code.equals(header.group(2))
                && Pattern.compile(pattern).matcher(message).find()) {
            return wanted;
        }
        String kind = wanted.isQuery() ? "query" : "statement";
        return wanted.withHeader(
                kind + " error " + code + " " + SPECIAL.matcher(message).replaceAll("\\\\$0"));
    }

    private static List<String> lines(List<List<Optional<String>>> rows, boolean sorted) {
        Stream<String> lines =
                rows.stream().map(row -> row.stream().map(GoldenFile::shown).collect(Collectors.joining(" | ")));
        return (sorted ? lines.sorted() : lines).toList();
    }

    private static String shown(Optional<String> value) {
        if (value.isEmpty()) {
            return "NULL";
        }
        String text = value.get().replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r");
        return text.isBlank() && !text.isEmpty() ? "'" + text + "'" : text.isEmpty() ? "(empty)" : text;
    }

    private String difference(GoldenRecord wanted, GoldenRecord got) {
        String place = path + ":" + wanted.line() + ": ";
        if (!wanted.header().equals(got.header())) {
            return place + "expected \"" + wanted.header() + "\", got \"" + got.header() + "\"\n" + wanted.sql();
        }
        return place + "different rows\n" + wanted.sql() + "\nexpected:\n  "
                + String.join("\n  ", wanted.expected()) + "\ngot:\n  " + String.join("\n  ", got.expected())
                + "\n(-Dmillrace.golden.update=true rewrites the file)";
    }
}
