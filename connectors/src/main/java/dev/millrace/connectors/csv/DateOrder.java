package dev.millrace.connectors.csv;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Whether the day or the month comes first in dates that allow both: as in columns that allow one, with the same separator; with points
 * always the day; else as the dates of rows that follow each other go forward; else by custom. Immutable.
 */
final class DateOrder {
    private final Map<String, Boolean> dayFirst = new HashMap<>(); // by separator
    private final boolean byCustom;
    private final List<String> remarks = new ArrayList<>();

    private DateOrder(boolean byCustom) {
        this.byCustom = byCustom;
    }

    /** @param dayFirstByCustom what counts if nothing else tells */
    static DateOrder of(Map<String, ColumnProfile> columns, boolean dayFirstByCustom) {
        DateOrder order = new DateOrder(dayFirstByCustom);
        columns.forEach((name, column) -> column.certainDates()
                .ifPresent(dates -> dates.separators()
                        .forEach(separator -> order.dayFirst.putIfAbsent(separator, dates.isDayFirst()))));
        columns.forEach((name, column) -> column.ambiguousDates().ifPresent(both -> order.decide(name, both)));
        return order;
    }

    private void decide(String column, List<PossibleReading.Dates> both) {
        for (String separator : both.get(0).separators()) {
            if (dayFirst.containsKey(separator)) {
                continue;
            }
            if (separator.equals(".")) {
                dayFirst.put(separator, true);
                continue;
            }
            boolean byRows =
                    both.get(0).isSmootherThan(both.get(1)) || both.get(1).isSmootherThan(both.get(0));
            boolean first = byRows ? both.get(0).isSmootherThan(both.get(1)) : byCustom;
            dayFirst.put(separator, first);
            remarks.add("the dates of column \"" + column + "\" may begin with the day or the month: taken is "
                    + both.get(first ? 0 : 1).format().orElseThrow()
                    + (byRows ? ", in which rows that follow each other go forward" : "")
                    + ", another is said by date_format or timestamp_format");
        }
    }

    boolean isDayFirst(Set<String> separators) {
        return separators.stream()
                .findFirst()
                .map(separator -> dayFirst.getOrDefault(separator, byCustom))
                .orElse(byCustom);
    }

    /** What was decided without being sure, in sentences. */
    List<String> remarks() {
        return remarks;
    }
}
