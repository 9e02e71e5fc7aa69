package dev.millrace.server.simulation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;

/** A kind of query of one or two relations with columns k and v, which gives such columns: as SQL, and what its answer is. */
enum ViewShape {
    FILTER(1, "SELECT k, v FROM %1$s WHERE (k + v) %% %3$d <> 0") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            return rows.stream()
                    .filter(row -> (row.key() + row.value()) % number != 0)
                    .map(row -> ModelRow.of(row.key(), row.value()))
                    .toList();
        }
    },
    PROJECT(1, "SELECT k + %3$d AS k, v - k AS v FROM %1$s") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            return rows.stream()
                    .map(row -> ModelRow.of(row.key() + number, row.value() - row.key()))
                    .toList();
        }
    },
    SUM(1, "SELECT k %% %3$d AS k, CAST(sum(v) AS BIGINT) AS v FROM %1$s GROUP BY k %% %3$d") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            Map<Long, Long> sums = new TreeMap<>();
            rows.forEach(row -> sums.merge(row.key() % number, row.value(), Long::sum));
            return rows(sums);
        }
    },
    MAX(1, "SELECT k %% %3$d AS k, max(v) AS v FROM %1$s GROUP BY k %% %3$d") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            Map<Long, Long> most = new TreeMap<>();
            rows.forEach(row -> most.merge(row.key() % number, row.value(), Math::max));
            return rows(most);
        }
    },
    COUNT(1, "SELECT v %% %3$d AS k, count(*) AS v FROM %1$s GROUP BY v %% %3$d") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            Map<Long, Long> counts = new TreeMap<>();
            rows.forEach(row -> counts.merge(row.value() % number, 1L, Long::sum));
            return rows(counts);
        }
    },
    DISTINCT(1, "SELECT DISTINCT k %% %3$d AS k, v %% 3 AS v FROM %1$s") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            Collection<ModelRow> distinct = new LinkedHashSet<>();
            rows.forEach(row -> distinct.add(ModelRow.of(row.key() % number, row.value() % 3)));
            return List.copyOf(distinct);
        }
    },
    TOP(1, "SELECT k, v FROM %1$s ORDER BY v DESC, k LIMIT %3$d") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            return rows.stream()
                    .map(row -> ModelRow.of(row.key(), row.value()))
                    .sorted(Comparator.comparing(ModelRow::value).reversed().thenComparing(ModelRow::key))
                    .limit(number)
                    .toList();
        }
    },
    BEST(
            1,
            "SELECT k, v FROM (SELECT k, v, row_number() OVER (PARTITION BY k %% %3$d ORDER BY v DESC, k) AS place"
                    + " FROM %1$s) AS x WHERE place = 1") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            Map<Long, ModelRow> best = new TreeMap<>();
            Comparator<ModelRow> order =
                    Comparator.comparing(ModelRow::value).thenComparing(ModelRow::key, Comparator.reverseOrder());
            rows.forEach(row ->
                    best.merge(row.key() % number, ModelRow.of(row.key(), row.value()), BinaryOperator.maxBy(order)));
            return List.copyOf(best.values());
        }
    },
    RUNNING(1, "SELECT k, CAST(sum(v) OVER (PARTITION BY k ORDER BY v) AS BIGINT) AS v FROM %1$s") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            return rows.stream()
                    .map(row -> ModelRow.of(
                            row.key(),
                            rows.stream()
                                    .filter(other -> other.key() == row.key() && other.value() <= row.value())
                                    .mapToLong(ModelRow::value)
                                    .sum()))
                    .toList();
        }
    },
    TOTAL(1, "SELECT count(*) AS k, CAST(coalesce(sum(v), %3$d) AS BIGINT) AS v FROM %1$s") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            long sum = rows.stream().mapToLong(ModelRow::value).sum();
            return List.of(ModelRow.of(rows.size(), rows.isEmpty() ? number : sum));
        }
    },
    KINDS(1, "SELECT k %% %3$d AS k, count(DISTINCT v) AS v FROM %1$s GROUP BY k %% %3$d HAVING count(*) > 1") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            Map<Long, List<Long>> values = new TreeMap<>();
            rows.forEach(row -> values.computeIfAbsent(row.key() % number, key -> new ArrayList<>())
                    .add(row.value()));
            Map<Long, Long> kinds = new TreeMap<>();
            values.forEach((key, all) -> {
                if (all.size() > 1) {
                    kinds.put(key, all.stream().distinct().count());
                }
            });
            return rows(kinds);
        }
    },
    JOIN(2, "SELECT a.k AS k, a.v + b.v AS v FROM %1$s a JOIN %2$s b ON a.k = b.k") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            List<ModelRow> pairs = new ArrayList<>();
            for (ModelRow row : rows) {
                for (ModelRow other : others) {
                    if (row.key() == other.key()) {
                        pairs.add(ModelRow.of(row.key(), row.value() + other.value()));
                    }
                }
            }
            return pairs;
        }
    },
    UNION(2, "SELECT k, v FROM %1$s UNION ALL SELECT k, v FROM %2$s") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            List<ModelRow> both = new ArrayList<>();
            List.of(rows, others).forEach(part -> part.forEach(row -> both.add(ModelRow.of(row.key(), row.value()))));
            return both;
        }
    },
    LEFT(2, "SELECT a.k AS k, a.v + coalesce(b.v, 1000) AS v FROM %1$s a LEFT JOIN %2$s b ON a.k = b.k") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            List<ModelRow> pairs = new ArrayList<>(JOIN.answer(rows, others, number));
            rows.stream()
                    .filter(row -> others.stream().noneMatch(other -> other.key() == row.key()))
                    .forEach(row -> pairs.add(ModelRow.of(row.key(), row.value() + 1000)));
            return pairs;
        }
    },
    AMONG(2, "SELECT k, v FROM %1$s WHERE k IN (SELECT k FROM %2$s)") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            return rows.stream()
                    .filter(row -> others.stream().anyMatch(other -> other.key() == row.key()))
                    .map(row -> ModelRow.of(row.key(), row.value()))
                    .toList();
        }
    },
    EXCEPT(2, "SELECT k %% %3$d AS k, v %% 3 AS v FROM %1$s EXCEPT SELECT k %% %3$d, v %% 3 FROM %2$s") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            List<ModelRow> left = new ArrayList<>(DISTINCT.answer(rows, List.of(), number));
            left.removeAll(DISTINCT.answer(others, List.of(), number));
            return left;
        }
    },
    /** Of a stream: stops at a row of which v is 0, and goes on without it. */
    RATIO(1, "SELECT k, 100 / v AS v FROM %1$s") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            return rows.stream()
                    .filter(row -> row.value() != 0)
                    .map(row -> ModelRow.of(row.key(), 100 / row.value()))
                    .toList();
        }

        @Override
        String oracleSql(List<String> from, int number) {
            return "SELECT k, 100 // v AS v FROM " + from.get(0) + " WHERE v <> 0";
        }
    },
    /** With others of one stream a member of a group, as the next two are. */
    OF_KEYS(1, "SELECT k, v FROM %1$s WHERE k > %3$d") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            return rows.stream()
                    .filter(row -> row.key() > number)
                    .map(row -> ModelRow.of(row.key(), row.value()))
                    .toList();
        }
    },
    SUM_OF_KEY(1, "SELECT v %% 3 AS k, CAST(sum(v) AS BIGINT) AS v FROM %1$s WHERE k = %3$d GROUP BY v %% 3") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            Map<Long, Long> sums = new TreeMap<>();
            rows.stream()
                    .filter(row -> row.key() == number)
                    .forEach(row -> sums.merge(row.value() % 3, row.value(), Long::sum));
            return rows(sums);
        }
    },
    /** Stops as RATIO does, of fewer rows. */
    RATIO_OF_KEYS(1, "SELECT k, 100 / v AS v FROM %1$s WHERE k > %3$d") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            return RATIO.answer(OF_KEYS.answer(rows, others, number), others, number);
        }

        @Override
        String oracleSql(List<String> from, int number) {
            return RATIO.oracleSql(from, number) + " AND k > " + number;
        }
    },
    /** Of a stream with times, in seconds: windows that the newest row says are over, of rows that did not come later. */
    WINDOW(
            1,
            "SELECT CAST(extract(epoch FROM window_start) AS BIGINT) AS k, CAST(sum(v) AS BIGINT) AS v"
                    + " FROM TUMBLE(TABLE %1$s, DESCRIPTOR(ts), INTERVAL '%3$d seconds') GROUP BY window_start, window_end") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            return windows(rows, number, 1);
        }

        @Override
        String oracleSql(List<String> from, int number) {
            return windowsOfOracle(from.get(0), number, 1);
        }
    },
    /** The same of windows of twice the length of their distance: a row is in two, or late. */
    HOPS(
            1,
            "SELECT CAST(extract(epoch FROM window_start) AS BIGINT) AS k, CAST(sum(v) AS BIGINT) AS v"
                    + " FROM HOP(TABLE %1$s, DESCRIPTOR(ts), INTERVAL '%3$d seconds', INTERVAL '%4$d seconds')"
                    + " GROUP BY window_start, window_end") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            return windows(rows, number, 2);
        }

        @Override
        String oracleSql(List<String> from, int number) {
            return windowsOfOracle(from.get(0), number, 2);
        }
    },
    /** Of a stream with times: all windows, which late rows correct. */
    OPEN_WINDOW(
            1,
            "SELECT CAST(extract(epoch FROM window_start) AS BIGINT) AS k, CAST(sum(v) AS BIGINT) AS v"
                    + " FROM TUMBLE(TABLE %1$s, DESCRIPTOR(ts), INTERVAL '%3$d seconds') GROUP BY window_start, window_end") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            Map<Long, Long> sums = new TreeMap<>();
            rows.forEach(row -> sums.merge(seconds(row) / number * number, row.value(), Long::sum));
            return rows(sums);
        }

        @Override
        String oracleSql(List<String> from, int number) {
            return String.format(
                    "SELECT ts // %2$d * %2$d AS k, CAST(sum(v) AS BIGINT) AS v FROM %1$s GROUP BY ts // %2$d",
                    from.get(0), number);
        }
    };

    private final int inputs;
    private final String sql;

    ViewShape(int inputs, String sql) {
        this.inputs = inputs;
        this.sql = sql;
    }

    int inputs() {
        return inputs;
    }

    /** @param number what the query is about: a divisor, a limit, a length; from 2 */
    String sql(List<String> from, int number) {
        return String.format(sql, from.get(0), from.get(from.size() - 1), number, 2 * number);
    }

    /** The same for DuckDB, which knows no windows; of a stream it has columns n, the order of its rows, and ts, in seconds. */
    String oracleSql(List<String> from, int number) {
        return sql(from, number);
    }

    /** Whether it is of a stream with times. */
    boolean isOfTimes() {
        return compareTo(WINDOW) >= 0;
    }

    /** Whether it is of a stream. */
    boolean isOfStream() {
        return mayStop() || this == OF_KEYS || this == SUM_OF_KEY || isOfTimes();
    }

    /** Whether a row can stop it. */
    boolean mayStop() {
        return this == RATIO || this == RATIO_OF_KEYS;
    }

    /** Whether this row does. */
    boolean isStoppedBy(ModelRow row, int number) {
        return row.value() == 0 && (this == RATIO || this == RATIO_OF_KEYS && row.key() > number);
    }

    /** Whether rows can come too late for it. */
    boolean hasLateRows() {
        return this == WINDOW || this == HOPS;
    }

    /** How many of these rows come too late. */
    long lateRows(List<ModelRow> rows, int number) {
        return rows.size() - inTime(rows, number).size();
    }

    /** The answer over these rows; of the second relation none where the query has one. */
    abstract List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number);

    private static long seconds(ModelRow row) {
        return row.values().get(2);
    }

    /** A row is late if the first of its windows had ended when the newest row before it was there. */
    private static List<ModelRow> inTime(List<ModelRow> rows, int slide) {
        List<ModelRow> inTime = new ArrayList<>();
        long newest = Long.MIN_VALUE;
        for (ModelRow row : rows) {
            if (seconds(row) / slide * slide + slide > newest) {
                inTime.add(row);
            }
            newest = Math.max(newest, seconds(row));
        }
        return inTime;
    }

    /** Sums of the windows that are over, each of some slides. */
    private static List<ModelRow> windows(List<ModelRow> rows, int slide, int slides) {
        Map<Long, Long> sums = new TreeMap<>();
        for (ModelRow row : inTime(rows, slide)) {
            for (int i = 0; i < slides; i++) {
                sums.merge((seconds(row) / slide - i) * slide, row.value(), Long::sum);
            }
        }
        long newest = rows.stream().mapToLong(ViewShape::seconds).max().orElse(0);
        sums.keySet().removeIf(start -> start + (long) slides * slide > newest);
        return rows(sums);
    }

    private static String windowsOfOracle(String from, int slide, int slides) {
        return String.format(
                "SELECT w AS k, CAST(sum(v) AS BIGINT) AS v FROM (SELECT *, (ts // %2$d - i) * %2$d AS w, max(ts) OVER () AS last"
                        + " FROM (SELECT *, max(ts) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before"
                        + " FROM %1$s), range(%3$d) AS r(i))"
                        + " WHERE (before IS NULL OR ts // %2$d * %2$d + %2$d > before) AND w + %2$d * %3$d <= last GROUP BY w",
                from, slide, slides);
    }

    private static List<ModelRow> rows(Map<Long, Long> byKey) {
        List<ModelRow> rows = new ArrayList<>();
        byKey.forEach((key, value) -> rows.add(ModelRow.of(key, value)));
        return rows;
    }
}
