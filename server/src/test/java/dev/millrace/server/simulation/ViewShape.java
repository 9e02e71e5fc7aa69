package dev.millrace.server.simulation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

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
    /** Of a stream with times, in seconds: windows that the newest row says are over. */
    WINDOW(
            1,
            "SELECT CAST(extract(epoch FROM window_start) AS BIGINT) AS k, CAST(sum(v) AS BIGINT) AS v"
                    + " FROM TUMBLE(TABLE %1$s, DESCRIPTOR(ts), INTERVAL '%3$d seconds') GROUP BY window_start, window_end") {
        @Override
        List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number) {
            Map<Long, Long> sums = new TreeMap<>();
            long newest = rows.stream().mapToLong(ViewShape::seconds).max().orElse(0);
            rows.forEach(row -> sums.merge(seconds(row) / number * number, row.value(), Long::sum));
            sums.keySet().removeIf(start -> start + number > newest);
            return rows(sums);
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
        return String.format(sql, from.get(0), from.get(from.size() - 1), number);
    }

    /** The answer over these rows; of the second relation none where the query has one. */
    abstract List<ModelRow> answer(List<ModelRow> rows, List<ModelRow> others, int number);

    private static long seconds(ModelRow row) {
        return row.values().get(2);
    }

    private static List<ModelRow> rows(Map<Long, Long> byKey) {
        List<ModelRow> rows = new ArrayList<>();
        byKey.forEach((key, value) -> rows.add(ModelRow.of(key, value)));
        return rows;
    }
}
