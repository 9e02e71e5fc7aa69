package dev.millrace.edge.config;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.bins.ProbabilityBins;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Which bins columns have that are not exact, as the server steers them (Pebbles, dissertation §6.2.1).
 *
 * @param own by column: bins that were set, or none for those that a density gives; of columns that are not here, bins of one width
 * @param evaluationMicros of event time, after which the bins of a density are looked at again; 0 at the end of each segment, empty for never
 */
public record BinSettings(Map<String, Optional<ProbabilityBins>> own, OptionalLong evaluationMicros) {
    static final BinSettings NONE = new BinSettings(Map.of(), OptionalLong.of(0));

    private static final int MOST_EDGES = 513;
    private static final String EXPECTED =
            "density, width, or 2 to " + MOST_EDGES + " rising numbers between which bins are, such as '0, 10, 50'";

    public BinSettings {
        own = Map.copyOf(own);
    }

    BinSettings withColumn(String setting, String column, String text) {
        Map<String, Optional<ProbabilityBins>> all = new TreeMap<>(own);
        switch (text) {
            case "density" -> all.put(column, Optional.empty());
            case "width" -> all.remove(column);
            default -> all.put(column, Optional.of(bins(setting, text)));
        }
        return new BinSettings(all, evaluationMicros);
    }

    BinSettings withEvaluation(OptionalLong micros) {
        return new BinSettings(own, micros);
    }

    private static ProbabilityBins bins(String setting, String text) {
        List<Double> edges = new ArrayList<>();
        try {
            for (String edge : text.replaceAll("[\\[\\]]", "").strip().split("\\s*,\\s*|\\s+", MOST_EDGES + 1)) {
                edges.add(Double.parseDouble(edge));
            }
        } catch (NumberFormatException e) {
            throw invalid(setting, text);
        }
        boolean rise = edges.size() >= 2 && edges.size() <= MOST_EDGES;
        for (int i = 0; rise && i < edges.size(); i++) {
            rise = Double.isFinite(edges.get(i)) && (i == 0 || edges.get(i - 1) < edges.get(i));
        }
        if (!rise) {
            throw invalid(setting, text);
        }
        return new ProbabilityBins(edges);
    }

    private static MillraceException invalid(String setting, String text) {
        return MillraceException.user(
                SqlState.INVALID_PARAMETER_VALUE,
                "setting \"" + setting + "\" cannot be \"" + text + "\": it is " + EXPECTED);
    }
}
