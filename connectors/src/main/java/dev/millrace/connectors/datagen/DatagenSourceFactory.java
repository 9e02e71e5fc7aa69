package dev.millrace.connectors.datagen;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.connectors.random.Draws;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;

/** The connector {@code datagen}: the columns are declared, their rules are options such as {@code temp.min}. */
public final class DatagenSourceFactory implements SourceFactory {
    private static final long MOST_ROWS = 1L << 50;

    @Override
    public String name() {
        return "datagen";
    }

    @Override
    public Source create(Schema declared, Options given) {
        if (declared.size() == 0) {
            throw MillraceException.user(
                    SqlState.INVALID_TABLE_DEFINITION, "connector \"datagen\" needs columns to be declared");
        }
        Options options = given.and(RisingWaveOptions.translated(given, MOST_ROWS));
        long rows = options.integer("rows", MOST_ROWS, 0, MOST_ROWS);
        long rate = options.integer("rate", 0, 0, 1_000_000_000);
        Draws draws = new Draws(options.integer("seed", 1, Long.MIN_VALUE, Long.MAX_VALUE));
        List<GenerationRule> rules = new ArrayList<>();
        for (int column = 0; column < declared.size(); column++) {
            rules.add(ColumnOptions.rule(declared.field(column), column, draws, options));
        }
        options.rejectUnread();
        return new DatagenSource(rules, rows, rows < MOST_ROWS, rate);
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(
                new OptionDescription("rows", "", "how many rows; without it the stream never ends"),
                new OptionDescription("rate", "0", "rows per second of real time; 0 is as fast as possible"),
                new OptionDescription("seed", "1", "streams of one seed are equal"),
                new OptionDescription(
                        "<column>.kind", "random", "sequence (the default of dates and timestamps), random or values"),
                new OptionDescription("<column>.start", "0", "sequence: the first value; timestamps 2026-01-01"),
                new OptionDescription("<column>.step", "1", "sequence: added per row; timestamps a duration, 1s"),
                new OptionDescription("<column>.jitter", "0s", "sequence of timestamps: how much earlier a row may be"),
                new OptionDescription("<column>.prefix", "", "sequence of texts: what stands before the number"),
                new OptionDescription("<column>.min", "0", "random: the least value; timestamps 2026-01-01"),
                new OptionDescription("<column>.max", "100", "random: the greatest value; timestamps the end of 2026"),
                new OptionDescription("<column>.length", "8", "random texts: how many letters"),
                new OptionDescription("<column>.values", "", "values to choose from at random, separated by commas"),
                new OptionDescription("<column>.nulls", "0", "what fraction is NULL, 0 to 1"));
    }
}
