package dev.millrace.server.differential;

/** Random frames of window functions. */
final class RandomFrames {
    private final Chance chance;

    RandomFrames(Chance chance) {
        this.chance = chance;
    }

    /** By rows, or none; the order must be total. */
    String rows() {
        return chance.percent(30) ? "" : " ROWS " + bounds() + exclusion();
    }

    /** By rows or by groups of equals; the order must be total, or equals be the same. */
    String any() {
        return chance.percent(30) ? "" : chance.of(" ROWS ", " GROUPS ") + bounds() + exclusion();
    }

    /** By groups of equals: for any order. */
    String groups() {
        return " GROUPS " + bounds() + exclusion();
    }

    private String bounds() {
        int before = chance.between(0, 3);
        int after = chance.between(0, 3);
        return switch (chance.below(7)) {
            case 0 -> "UNBOUNDED PRECEDING";
            case 1 -> before + " PRECEDING";
            case 2 -> "BETWEEN " + before + " PRECEDING AND " + after + " FOLLOWING";
            case 3 -> "BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING";
            case 4 -> "BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING";
            case 5 -> "BETWEEN " + (before + 2) + " PRECEDING AND 1 PRECEDING";
            default -> "BETWEEN 1 FOLLOWING AND " + (after + 1) + " FOLLOWING";
        };
    }

    /** Which rows of the frame are left out, mostly none. */
    String exclusion() {
        return chance.percent(60)
                ? ""
                : chance.of(" EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES", " EXCLUDE NO OTHERS");
    }
}
