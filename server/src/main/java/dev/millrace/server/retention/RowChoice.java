package dev.millrace.server.retention;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.sketch.materialise.Materialisation;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which rows of what streams keep a standing query is given: {@code WITH (materialize = ..)} (dissertation §6.2.4). Immutable.
 *
 * <p>What is chosen depends on the rows alone, and not on how or when they are read: who reads them again is given the same. A sample takes each row by its
 * place in the log, so samples of one stream contain each other. The most and the least frequent rows are those of each sketch; rows that are in none are
 * all given.
 */
public final class RowChoice {
    /** The option of a query. */
    public static final String OPTION = "materialize";

    /** All rows. */
    public static final RowChoice ALL = new RowChoice(Kind.ALL, 1, 0);

    private static final String EXPECTED =
            "all, sample(SHARE) with a share above 0 and up to 1, top(K) or bottom(K) with K from 1 to 1000000";
    private static final Pattern FORM = Pattern.compile("(sample|top|bottom)\\s*\\(\\s*([0-9.]{1,20})\\s*(%?)\\s*\\)");
    private static final int MOST = 1_000_000;

    private enum Kind {
        ALL,
        SAMPLE,
        TOP,
        BOTTOM
    }

    private final Kind kind;
    private final double share; // of a sample
    private final int k; // combinations of values

    private RowChoice(Kind kind, double share, int k) {
        this.kind = kind;
        this.share = share;
        this.k = k;
    }

    /**
     * What a query's options say.
     *
     * @throws MillraceException 22023 for what is no such choice
     */
    public static RowChoice of(Options options) {
        return options.text(OPTION).map(RowChoice::parse).orElse(ALL);
    }

    private static RowChoice parse(String text) {
        String form = text.strip().toLowerCase(Locale.ROOT);
        Matcher matcher = FORM.matcher(form);
        if (form.equals("all")) {
            return ALL;
        }
        if (!matcher.matches()) {
            throw Options.invalid(OPTION, text, EXPECTED);
        }
        try {
            String number = matcher.group(2);
            boolean isPercent = !matcher.group(3).isEmpty();
            Kind kind = Kind.valueOf(matcher.group(1).toUpperCase(Locale.ROOT));
            double share = kind == Kind.SAMPLE ? Double.parseDouble(number) / (isPercent ? 100 : 1) : 1;
            int k = kind == Kind.SAMPLE ? 0 : Integer.parseInt(number);
            if (share > 0 && share <= 1 && (kind == Kind.SAMPLE || !isPercent && k >= 1 && k <= MOST)) {
                return new RowChoice(kind, share, k);
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw Options.invalid(OPTION, text, EXPECTED);
    }

    /** Whether it leaves no row out. */
    public boolean isAll() {
        return kind == Kind.ALL || kind == Kind.SAMPLE && share == 1;
    }

    /** How sketches are read, of which not all combinations of values are given. */
    Optional<Materialisation> byFrequency() {
        return switch (kind) {
            case ALL, SAMPLE -> Optional.empty();
            case TOP -> Optional.of(Materialisation.topK(k));
            case BOTTOM -> Optional.of(Materialisation.bottomK(k));
        };
    }

    /** Whether it is a choice among the rows of sketches. */
    public boolean isOfSketches() {
        return kind == Kind.TOP || kind == Kind.BOTTOM;
    }

    /** Whether a row is in the sample, by its entry of the log and its number in it; true if this is none. */
    boolean takes(long entry, long row) {
        return kind != Kind.SAMPLE || share == 1 || (mixed(mixed(entry) + row) >>> 11) * 0x1p-53 < share;
    }

    /** Spreads numbers over all of 64 bits (the finaliser of SplitMix64, Steele and others 2014). */
    private static long mixed(long number) {
        long mixed = number + 0x9e3779b97f4a7c15L;
        mixed = (mixed ^ mixed >>> 30) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
        return mixed ^ mixed >>> 31;
    }

    /** As an option has it. */
    @Override
    public String toString() {
        return switch (kind) {
            case ALL -> "all";
            case SAMPLE -> "sample(" + share + ")";
            case TOP -> "top(" + k + ")";
            case BOTTOM -> "bottom(" + k + ")";
        };
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RowChoice that && kind == that.kind && share == that.share && k == that.k;
    }

    @Override
    public int hashCode() {
        return toString().hashCode();
    }
}
