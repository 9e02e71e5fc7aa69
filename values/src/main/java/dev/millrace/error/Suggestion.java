package dev.millrace.error;

import java.util.Collection;
import java.util.Optional;

/** The "did you mean" of misspelt names. */
public final class Suggestion {
    private Suggestion() {}

    /** The candidate nearest to {@code name} by edit distance, if near enough to be a likely slip. */
    public static Optional<String> nearest(String name, Collection<String> candidates) {
        int limit = Math.max(1, name.length() / 3);
        String best = "";
        int bestDistance = limit + 1;
        for (String candidate : candidates) {
            int distance = distance(name, candidate);
            if (distance < bestDistance) {
                best = candidate;
                bestDistance = distance;
            }
        }
        return bestDistance <= limit ? Optional.of(best) : Optional.empty();
    }

    /** Optimal string alignment: insert, delete, replace and swap of neighbours cost one each. */
    private static int distance(String a, String b) {
        int[][] cost = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    cost[i][j] = i + j;
                    continue;
                }
                int replace = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                cost[i][j] = Math.min(Math.min(cost[i - 1][j] + 1, cost[i][j - 1] + 1), cost[i - 1][j - 1] + replace);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    cost[i][j] = Math.min(cost[i][j], cost[i - 2][j - 2] + 1);
                }
            }
        }
        return cost[a.length()][b.length()];
    }
}
