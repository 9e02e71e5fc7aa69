package dev.millrace.sql;

import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.catalog.Relation.EventTime;
import dev.millrace.sql.catalog.Relation.Kind;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The relations that the tests' texts name. */
final class TestCatalog implements Catalog {
    private final Map<String, Relation> relations = new LinkedHashMap<>();

    TestCatalog() {
        stream(
                "bid",
                "datetime",
                "auction bigint!, bidder bigint!, price bigint!, channel text!, url text!, datetime timestamp!, extra text");
        stream(
                "auction",
                "datetime",
                "id bigint!, itemname text, description text, initialbid bigint, reserve bigint, datetime timestamp!,"
                        + " expires timestamp, seller bigint, category bigint, extra text");
        stream(
                "person",
                "datetime",
                "id bigint!, name text, emailaddress text, creditcard text, city text, state text,"
                        + " datetime timestamp!, extra text");
        stream("readings", "ts", "device text!, ts timestamptz!, temp double, k integer, r real, ok boolean");
        table(
                "devices",
                "device text!, site text, limit_c double, n numeric(10.2), day date, code varchar(5), mark char(3)");
        stream(
                "stream",
                "timestamp",
                "value integer, count integer, watermark integer, year integer, timestamp timestamp");
        add(new Relation(
                "hot", Kind.CONTINUOUS_QUERY, schema("site text, n bigint"), false, List.of(), Optional.empty()));
        add(new Relation(
                "millrace.late_rows", Kind.SYSTEM_VIEW, schema("relation text"), true, List.of(), Optional.empty()));
    }

    private void stream(String name, String time, String columns) {
        Schema schema = schema(columns);
        add(new Relation(
                name, Kind.STREAM, schema, true, List.of(), Optional.of(new EventTime(schema.indexOf(time), 0))));
    }

    private void table(String name, String columns) {
        add(new Relation(name, Kind.TABLE, schema(columns), false, List.of(0), Optional.empty()));
    }

    private void add(Relation relation) {
        relations.put(relation.name(), relation);
    }

    private static Schema schema(String columns) {
        List<Field> fields = new ArrayList<>();
        for (String column : columns.split(",")) {
            String[] parts = column.strip().split(" ");
            boolean nullable = !parts[1].endsWith("!");
            fields.add(new Field(parts[0], type(parts[1].replace("!", "")), nullable));
        }
        return new Schema(fields);
    }

    private static DataType type(String name) {
        return switch (name) {
            case "numeric(10.2)" -> DataType.numeric(10, 2);
            case "varchar(5)" -> DataType.varchar(5);
            case "char(3)" -> DataType.character(3);
            default -> new DataType(DataType.Kind.valueOf(name.toUpperCase(Locale.ROOT)), 0, 0, List.of());
        };
    }

    @Override
    public Optional<Relation> relation(String name) {
        return Optional.ofNullable(relations.get(name));
    }

    @Override
    public Collection<String> relationNames() {
        return relations.keySet();
    }

    @Override
    public Optional<String> sessionFunction(String name, List<String> arguments) {
        return name.equals("version") ? Optional.of("PostgreSQL 16 (Millrace)") : Optional.empty();
    }
}
