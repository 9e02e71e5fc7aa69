package dev.millrace.server.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Statements that define, alter and drop. */
final class RandomDefinitions {
    private static final int MOST_TABLES = 4;
    private static final int MOST_STREAMS = 3;
    private static final int MOST_VIEWS = 7;
    private static final int MOST_DEPTH = 3;
    private static final int MOST_SUBSCRIPTIONS = 3;
    private static final int MOST_SINKS = 2;
    private static final int MOST_DERIVED = 2;
    private static final int MOST_COPIED = 60;
    private static final List<ViewShape> SHARED = List.of(
            ViewShape.OF_KEYS, ViewShape.SUM_OF_KEY, ViewShape.RATIO_OF_KEYS); // drawn more often, or few would share

    private final HistoryModel model;
    private int openings;

    RandomDefinitions(HistoryModel model) {
        this.model = model;
    }

    /** The database was opened. @param times how often by now */
    void opened(int times) {
        openings = times;
    }

    /**
     * The next statement; none where what the seed says cannot be done.
     *
     * @param held tables that transactions under way have changed, which stay as they are
     */
    Optional<HistoryStatement> next(Random random, Set<Integer> held) {
        List<ModelObject.Table> tables = model.all(ModelObject.Table.class);
        int kind = random.nextInt(24);
        if (tables.isEmpty() || kind < 3) {
            return tables.size() < MOST_TABLES ? Optional.of(createTable(random)) : Optional.empty();
        } else if (kind < 6) {
            return createStream(random);
        } else if (kind < 12) {
            return createView(random);
        } else if (kind < 14) {
            ModelObject.Table table = tables.get(random.nextInt(tables.size()));
            return held.contains(table.rows()) ? Optional.empty() : alter(table, random);
        } else if (kind < 15) {
            ModelObject.Table table = tables.get(random.nextInt(tables.size()));
            return held.contains(table.rows()) ? Optional.empty() : Optional.of(createIndex(table, random));
        } else if (kind < 17) {
            return createTableAs(random);
        } else if (kind < 18) {
            return createSink(random);
        } else if (kind < 21) {
            return createDerived(random);
        }
        return drop(random, held);
    }

    /** One that nothing has now; something may have had it. */
    private String newName(String kind) {
        return Stream.iterate(1, number -> number + 1)
                .map(number -> kind + number)
                .filter(name -> !model.catalog().containsKey(name))
                .findFirst()
                .orElseThrow();
    }

    private HistoryStatement createTable(Random random) {
        boolean isKeyed = random.nextInt(3) > 0;
        ModelObject.Table table = new ModelObject.Table(newName("t"), model.newNumber(), isKeyed, List.of(), List.of());
        return HistoryStatement.define(
                "CREATE TABLE " + table.name() + " (k BIGINT" + (isKeyed ? " PRIMARY KEY" : "") + ", v BIGINT)",
                ModelChange.NOTHING,
                model.with(table));
    }

    private Optional<HistoryStatement> createStream(Random random) {
        if (model.all(ModelObject.Stream.class).size() >= MOST_STREAMS) {
            return Optional.empty();
        }
        boolean isTimed = random.nextBoolean();
        ModelObject.Stream stream = new ModelObject.Stream(
                newName("s"), model.newNumber(), isTimed, random.nextInt(3) == 0, random.nextInt(2) == 0);
        return Optional.of(HistoryStatement.define(
                "CREATE STREAM " + stream.name() + " (k BIGINT, v BIGINT"
                        + (isTimed ? ", ts TIMESTAMP" : "")
                        + (stream.isWide() ? ", pad TEXT" : "")
                        + (isTimed ? ", WATERMARK FOR ts AS ts)" : ")")
                        + (stream.isRetained() ? " WITH (retention = 'forever')" : ""),
                ModelChange.NOTHING,
                model.with(stream)));
    }

    private Optional<HistoryStatement> createSink(Random random) {
        List<ModelObject.Stream> streams = model.all(ModelObject.Stream.class);
        if (streams.isEmpty() || model.all(ModelObject.Sink.class).size() >= MOST_SINKS) {
            return Optional.empty();
        }
        ModelObject.Stream stream = streams.get(random.nextInt(streams.size()));
        ModelObject.Sink sink = new ModelObject.Sink(
                newName("o"),
                stream.name(),
                model.newNumber(),
                model.rows(stream.rows()).size());
        return Optional.of(HistoryStatement.define(
                "CREATE SINK " + sink.name() + " WITH (connector = 'print', prefix = '" + sink.prefix()
                        + "') AS SELECT k, v FROM " + stream.name(),
                ModelChange.NOTHING,
                model.with(sink)));
    }

    private Optional<HistoryStatement> createDerived(Random random) {
        ViewShape shape = List.of(ViewShape.FILTER, ViewShape.PROJECT, ViewShape.WINDOW, ViewShape.HOPS)
                .get(random.nextInt(4));
        List<ModelObject.Stream> streams = model.all(ModelObject.Stream.class).stream()
                .filter(stream -> isFit(stream, shape))
                .toList();
        if (streams.isEmpty() || model.all(ModelObject.Derived.class).size() >= MOST_DERIVED) {
            return Optional.empty();
        }
        ModelObject.Stream stream = streams.get(random.nextInt(streams.size()));
        boolean readsPast = stream.isRetained() && random.nextBoolean();
        ModelObject.Derived derived = new ModelObject.Derived(
                newName("r"),
                shape,
                2 + random.nextInt(4),
                stream.name(),
                readsPast ? 0 : model.rows(stream.rows()).size());
        return Optional.of(HistoryStatement.define(
                "CREATE STREAM " + derived.name() + " WITH (retention = 'forever'"
                        + (readsPast ? ", start = 'earliest'" : "") + ") AS " + derived.sql(),
                ModelChange.NOTHING,
                model.with(derived)));
    }

    private int depth(String name) {
        return 1
                + model.catalog().get(name).inputs().stream()
                        .mapToInt(this::depth)
                        .max()
                        .orElse(-1);
    }

    private Optional<HistoryStatement> createView(Random random) {
        if (model.all(ModelObject.View.class).size() >= MOST_VIEWS) {
            return Optional.empty();
        }
        List<ModelObject.View> shared = model.all(ModelObject.View.class).stream()
                .filter(view -> SHARED.contains(view.shape()) && view.isMaterialized())
                .toList();
        if (!shared.isEmpty() && random.nextBoolean()) {
            ModelObject.View like = shared.get(random.nextInt(shared.size()));
            return Optional.of(createView(like.shape(), like.inputs(), random));
        }
        ViewShape shape;
        List<String> from;
        boolean ofStream = random.nextInt(3) == 0; // else few are: tables and views fit most
        do {
            shape = ofStream && random.nextBoolean()
                    ? SHARED.get(random.nextInt(SHARED.size()))
                    : ViewShape.values()[random.nextInt(ViewShape.values().length)];
            from = inputs(shape);
            ofStream &= !model.all(ModelObject.Stream.class).isEmpty();
        } while (from.isEmpty() || ofStream && !shape.isOfStream());
        return Optional.of(createView(shape, from, random));
    }

    private List<String> inputs(ViewShape shape) {
        return model.catalog().values().stream()
                .filter(object -> isFit(object, shape))
                .map(ModelObject::name)
                .filter(name -> depth(name) < MOST_DEPTH)
                .toList();
    }

    private HistoryStatement createView(ViewShape shape, List<String> from, Random random) {
        List<String> inputs = IntStream.range(0, shape.inputs())
                .mapToObj(i -> from.get(random.nextInt(from.size())))
                .toList();
        boolean isMaterialized = shape.isOfTimes() || shape.mayStop() || random.nextInt(4) > 0;
        boolean readsPast =
                random.nextBoolean() && isMaterialized && inputs.stream().anyMatch(this::isRetained);
        int number = 2 + random.nextInt(4);
        List<String> options = new ArrayList<>();
        if (readsPast) {
            options.add("start = 'earliest'");
        }
        if (shape == ViewShape.OPEN_WINDOW) {
            options.add("late = 'include'");
        }
        ModelObject.View view = new ModelObject.View(
                newName("v"),
                isMaterialized,
                shape,
                number,
                inputs,
                isMaterialized ? since(readsPast) : Map.of(),
                Map.of(),
                false,
                0,
                openings,
                "");
        return HistoryStatement.define(
                "CREATE " + (isMaterialized ? "MATERIALIZED VIEW " : "VIEW ") + view.name()
                        + (options.isEmpty() ? "" : " WITH (" + String.join(", ", options) + ")") + " AS "
                        + shape.sql(inputs, number),
                ModelChange.NOTHING,
                model.with(view));
    }

    /**
     * REPROCESS of a view, with its own query or another; none where nothing reads a stream that keeps its rows.
     *
     * @param ends whether the new answer is to end with what arrived before; then all rows are on disk, and time goes on
     */
    Optional<HistoryStatement> reprocess(Random random, boolean ends) {
        List<ModelObject.View> views = model.all(ModelObject.View.class).stream()
                .filter(ModelObject.View::isMaterialized)
                .toList();
        if (views.isEmpty() || model.all(ModelObject.View.class).size() > MOST_VIEWS) {
            return Optional.empty();
        }
        ModelObject.View view = views.get(random.nextInt(views.size()));
        boolean isBeside = ends || random.nextInt(3) == 0;
        String name = isBeside ? newName("v") : view.name() + "_reprocessed";
        if (model.catalog().containsKey(name)) {
            return Optional.empty();
        }
        boolean isSame = random.nextInt(4) == 0
                && view.inputs().stream().anyMatch(this::isRetained)
                && view.inputs().stream().noneMatch(this::isOverStopped);
        ViewShape shape = isSame ? view.shape() : otherShape(view, random);
        Set<String> above = model.withDependents(view.name());
        List<String> from =
                inputs(shape).stream().filter(input -> !above.contains(input)).toList();
        List<String> kept = from.stream().filter(this::isRetained).toList();
        if (!isSame && kept.isEmpty()) {
            return Optional.empty();
        }
        List<String> inputs = isSame
                ? view.inputs()
                : IntStream.range(0, shape.inputs())
                        .mapToObj(i -> i == 0 || random.nextBoolean() ? kept : from)
                        .map(names -> names.get(random.nextInt(names.size())))
                        .toList();
        boolean mayEnd =
                !shape.mayStop() && !shape.isOfTimes() && inputs.stream().allMatch(this::isRetained);
        if (ends && !mayEnd) {
            return Optional.empty();
        }
        int number = isSame ? view.number() : 2 + random.nextInt(4);
        ModelObject.View made = new ModelObject.View(
                name,
                true,
                shape,
                number,
                inputs,
                since(true),
                ends ? model.streamLengths() : Map.of(),
                false,
                0,
                openings,
                isBeside ? "" : view.name());
        return Optional.of(HistoryStatement.define(
                "REPROCESS MATERIALIZED VIEW " + view.name() + " FROM 'earliest'" + (ends ? " TO 'now'" : "")
                        + (isBeside ? " AS " + name : "")
                        + (isSame ? "" : " AS " + shape.sql(inputs, number)),
                ModelChange.NOTHING,
                model.with(made)));
    }

    /** One to which the options of a view fit. */
    private ViewShape otherShape(ModelObject.View view, Random random) {
        List<ViewShape> shapes = Stream.of(ViewShape.values())
                .filter(shape -> (shape == ViewShape.OPEN_WINDOW) == (view.shape() == ViewShape.OPEN_WINDOW))
                .toList();
        return shapes.get(random.nextInt(shapes.size()));
    }

    /** Whether a view can be made from it that will not fail at once. */
    private boolean isFit(ModelObject object, ViewShape shape) {
        if (object instanceof ModelObject.Stream stream) {
            return !shape.isOfTimes() || stream.isTimed();
        }
        boolean hasRows = object instanceof ModelObject.Table
                || object instanceof ModelObject.View view && !view.ends() && !isOverStopped(object.name());
        return hasRows && !shape.isOfTimes() && !shape.mayStop();
    }

    private boolean isOverStopped(String name) {
        ModelObject object = model.catalog().get(name);
        return object instanceof ModelObject.View view && model.isStopped(view)
                || object.inputs().stream().anyMatch(this::isOverStopped);
    }

    private boolean isRetained(String name) {
        return model.catalog().get(name) instanceof ModelObject.Stream stream && stream.isRetained();
    }

    /** How many rows streams have had that are not read. */
    private Map<Integer, Integer> since(boolean readsPast) {
        Map<Integer, Integer> since = model.streamLengths();
        if (readsPast) {
            model.all(ModelObject.Stream.class).stream()
                    .filter(ModelObject.Stream::isRetained)
                    .forEach(stream -> since.remove(stream.rows()));
        }
        return since;
    }

    private HistoryStatement createIndex(ModelObject.Table table, Random random) {
        ModelObject.Index index = new ModelObject.Index(newName("i"), table.name());
        return HistoryStatement.define(
                "CREATE INDEX " + index.name() + " ON " + table.name()
                        + (random.nextBoolean() ? " (v)" : " (v DESC, k)"),
                ModelChange.NOTHING,
                model.with(index));
    }

    /** CREATE SUBSCRIPTION to a view that has an answer; none where there are many. */
    Optional<HistoryStatement> createSubscription(Random random) {
        List<String> views = model.all(ModelObject.View.class).stream()
                .filter(view -> view.isMaterialized() && !view.ends() && model.isShown(view.name()))
                .map(ModelObject::name)
                .toList();
        if (views.isEmpty() || model.all(ModelObject.Durable.class).size() >= MOST_SUBSCRIPTIONS) {
            return Optional.empty();
        }
        ModelObject.Durable durable =
                new ModelObject.Durable(newName("d"), views.get(random.nextInt(views.size())), model.newNumber());
        return Optional.of(HistoryStatement.define(
                "CREATE SUBSCRIPTION " + durable.name() + " FROM " + durable.view(),
                ModelChange.NOTHING,
                model.with(durable)));
    }

    private Optional<HistoryStatement> alter(ModelObject.Table table, Random random) {
        List<ModelRow> rows = model.rows(table.rows());
        List<String> added = new ArrayList<>(table.added());
        List<Long> defaults = new ArrayList<>(table.defaults());
        List<ModelRow> changed;
        String what;
        if (added.isEmpty() || random.nextBoolean()) {
            long value = random.nextInt(9);
            added.add(Stream.of("c1", "c2", "c3", "c4", "c5")
                    .filter(name -> !added.contains(name))
                    .findFirst()
                    .orElse("c" + added.size() + "x"));
            defaults.add(value);
            changed = rows.stream().map(row -> row.plus(value)).toList();
            what = " ADD COLUMN " + added.get(added.size() - 1) + " BIGINT DEFAULT " + value;
        } else {
            int gone = random.nextInt(added.size());
            what = " DROP COLUMN " + added.remove(gone);
            defaults.remove(gone);
            changed = rows.stream().map(row -> row.without(2 + gone)).toList();
        }
        ModelObject.Table now =
                new ModelObject.Table(table.name(), model.newNumber(), table.isKeyed(), added, defaults);
        return Optional.of(HistoryStatement.define(
                "ALTER TABLE " + table.name() + what, ModelChange.of(now.rows(), List.of(), changed), model.with(now)));
    }

    private Optional<HistoryStatement> createTableAs(Random random) {
        List<String> from = model.catalog().keySet().stream()
                .filter(model::isShown)
                .filter(name -> !model.readsStream(name))
                .filter(name ->
                        model.answer(name).size() <= MOST_COPIED) // else joins of copies of joins grow without end
                .toList();
        if (from.isEmpty()
                || !model.isAllShown() // else what it reads is not known
                || model.all(ModelObject.Table.class).size() >= MOST_TABLES) {
            return Optional.empty();
        }
        String source = from.get(random.nextInt(from.size()));
        ModelObject.Table table = new ModelObject.Table(newName("t"), model.newNumber(), false, List.of(), List.of());
        List<ModelRow> rows = model.answer(source).stream()
                .map(row -> ModelRow.of(row.key(), row.value()))
                .toList();
        return Optional.of(HistoryStatement.define(
                "CREATE TABLE " + table.name() + " AS SELECT k, v FROM " + source,
                ModelChange.of(table.rows(), List.of(), rows),
                model.with(table)));
    }

    private Optional<HistoryStatement> drop(Random random, Set<Integer> held) {
        List<ModelObject> all = List.copyOf(model.catalog().values());
        ModelObject object = all.get(random.nextInt(all.size()));
        if (object instanceof ModelObject.Table table && held.contains(table.rows())
                || object instanceof ModelObject.Stream stream && held.contains(stream.rows())
                || object instanceof ModelObject.Index index
                        && model.table(index.table())
                                .filter(of -> held.contains(of.rows()))
                                .isPresent()) {
            return Optional.empty();
        }
        boolean cascades = model.withDependents(object.name()).size() > 1;
        return Optional.of(HistoryStatement.define(
                "DROP " + kind(object) + " " + object.name() + (cascades ? " CASCADE" : ""),
                ModelChange.NOTHING,
                model.without(object.name())));
    }

    static String kind(ModelObject object) {
        if (object instanceof ModelObject.View view) {
            return view.isMaterialized() ? "MATERIALIZED VIEW" : "VIEW";
        }
        if (object instanceof ModelObject.Durable) {
            return "SUBSCRIPTION";
        }
        if (object instanceof ModelObject.Derived) {
            return "STREAM";
        }
        return object.getClass().getSimpleName().toUpperCase(Locale.ROOT);
    }
}
