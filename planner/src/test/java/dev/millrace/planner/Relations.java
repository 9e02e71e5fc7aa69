package dev.millrace.planner;

import dev.millrace.condense.Condensing;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.planner.PlannerContext.Mode;
import dev.millrace.planner.fact.RelationFacts;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The relations that the tests' SQL speaks of: NEXMark's streams, a table, a view and a stream without watermark. */
final class Relations implements Catalog {
    private static final long DELAY_MICROS = 4_000_000;
    private static final Map<String, DataType> TYPES = Map.of(
            "bigint", DataType.BIGINT,
            "text", DataType.TEXT,
            "timestamp", DataType.TIMESTAMP,
            "timestamptz", DataType.TIMESTAMPTZ,
            "double", DataType.DOUBLE,
            "integer", DataType.INTEGER);

    private final Map<String, Relation> relations = Stream.of(
                    stream(
                            "person",
                            "id bigint, name text, emailaddress text, creditcard text, city text, state text,"
                                    + " datetime timestamp, extra text",
                            "datetime"),
                    stream(
                            "auction",
                            "id bigint, itemname text, description text, initialbid bigint, reserve bigint,"
                                    + " datetime timestamp, expires timestamp, seller bigint, category bigint, extra text",
                            "datetime"),
                    stream(
                            "bid",
                            "auction bigint, bidder bigint, price bigint, channel text, url text,"
                                    + " datetime timestamp, extra text",
                            "datetime"),
                    stream("reading", "device text, ts timestamptz, temp double?, humidity double?", "ts"),
                    stream("measurement", "id integer, at timestamptz?, value double?", ""),
                    stream("past", "device text, ts timestamp, temp double?, load bigint", ""),
                    relation(Relation.Kind.TABLE, "device", "device text, site text?, limit_c double?", List.of(0)),
                    versions("setting", "device text, least double?, since timestamptz", List.of(0), "since"),
                    relation(
                            Relation.Kind.MATERIALIZED_VIEW,
                            "by_device",
                            "device text, n bigint, highest double?",
                            List.of(0)))
            .collect(Collectors.toMap(Relation::name, relation -> relation));

    private static Schema schema(String columns) {
        List<Field> fields = new ArrayList<>();
        for (String column : columns.split(", *")) {
            String[] parts = column.split(" ");
            boolean nullable = parts[1].endsWith("?");
            fields.add(new Field(parts[0], TYPES.get(parts[1].replace("?", "")), nullable));
        }
        return new Schema(fields);
    }

    private static Relation stream(String name, String columns, String time) {
        Schema schema = schema(columns);
        Optional<Relation.EventTime> eventTime = time.isEmpty()
                ? Optional.empty()
                : Optional.of(new Relation.EventTime(schema.indexOf(time), DELAY_MICROS));
        return new Relation(name, Relation.Kind.STREAM, schema, true, List.of(), eventTime);
    }

    private static Relation versions(String name, String columns, List<Integer> key, String time) {
        Schema schema = schema(columns);
        Optional<Relation.EventTime> eventTime =
                Optional.of(new Relation.EventTime(schema.indexOf(time), DELAY_MICROS));
        return new Relation(name, Relation.Kind.TABLE, schema, false, key, eventTime);
    }

    private static Relation relation(Relation.Kind kind, String name, String columns, List<Integer> key) {
        return new Relation(name, kind, schema(columns), false, key, Optional.empty());
    }

    @Override
    public Optional<Relation> relation(String name) {
        return Optional.ofNullable(relations.get(name));
    }

    @Override
    public Collection<String> relationNames() {
        return relations.keySet();
    }

    private RelationFacts facts(String name) {
        Relation relation = relations.get(name);
        return new RelationFacts(
                relation.appendOnly(),
                relation.kind() == Relation.Kind.STREAM,
                relation.eventTime().map(time -> new RelationFacts.EventTime(time.column(), time.delayMicros(), 0)),
                relation.primaryKey(),
                false,
                name.equals("past")
                        ? Optional.of(
                                new Condensing(OptionalInt.of(relation.schema().indexOf("ts")), Set.of()))
                        : Optional.empty());
    }

    PlannerContext context(Mode mode, int tasks) {
        return new PlannerContext(mode, this::facts, tasks, Relations::fold, false, OptionalLong.empty());
    }

    /** Few rows with many coincidences: equal values, times at the ends of windows, NULLs where they may be. */
    Map<String, List<List<Object>>> randomRows(Random random) {
        Map<String, List<List<Object>>> all = new TreeMap<>();
        for (Relation relation : new TreeMap<>(relations).values()) {
            int count = random.nextInt(relation.kind() == Relation.Kind.STREAM ? 14 : 5);
            Set<List<Object>> keys = new HashSet<>();
            List<List<Object>> rows = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                List<Object> row = new ArrayList<>();
                relation.schema().fields().forEach(field -> row.add(value(field, random)));
                List<Object> key = relation.primaryKey().stream().map(row::get).toList();
                if (key.isEmpty() || keys.add(key)) {
                    rows.add(row);
                }
            }
            all.put(relation.name(), rows);
        }
        return all;
    }

    private static Object value(Field field, Random random) {
        if (field.nullable() && random.nextInt(6) == 0) {
            return null;
        }
        List<String> texts = List.of("roof", "boiler-1", "apple", "test");
        long[] numbers = {0, 1, 2, 3, 4, 123, 5_000, 10_000, 2_000_000};
        return switch (field.type().kind()) {
            case TEXT -> texts.get(random.nextInt(texts.size()));
            case TIMESTAMP, TIMESTAMPTZ -> BigDecimal.valueOf(random.nextInt(40) * 1_000_000L);
            case DOUBLE -> BigDecimal.valueOf(random.nextInt(5) * 25L);
            default -> BigDecimal.valueOf(numbers[random.nextInt(random.nextInt(numbers.length) + 1)]);
        };
    }

    /** A SELECT or CREATE CONTINUOUS QUERY, analysed. */
    Query query(String sql) {
        Frontend frontend = new Frontend();
        Statement statement = frontend.analyze(frontend.parse(sql).get(0), this, Parameters.none());
        return statement instanceof Statement.CreateContinuousQuery create
                ? create.query()
                : ((Statement.Select) statement).query();
    }

    /** Integers cast to other numbers; all that these tests need of an evaluator. */
    private static Expression fold(Expression expression) {
        if (expression instanceof Cast cast
                && cast.input() instanceof Literal literal
                && literal.value() instanceof Long number) {
            return switch (cast.type().kind()) {
                case SMALLINT, INTEGER, BIGINT -> new Literal(number, cast.type());
                case NUMERIC ->
                    new Literal(BigDecimal.valueOf(number).setScale(cast.type().scale()), cast.type());
                case DOUBLE, REAL -> new Literal(number.doubleValue(), cast.type());
                default -> expression;
            };
        }
        return expression;
    }
}
