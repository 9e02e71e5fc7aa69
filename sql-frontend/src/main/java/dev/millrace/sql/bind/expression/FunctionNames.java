package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.Aggregates;
import dev.millrace.sql.bind.function.BuiltInFunctions;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.UserFunction;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;

/** Which names are functions', and which of those aggregates'. */
public final class FunctionNames {
    /** Aggregates of JSON: what is made, of a value or of a key and a value. */
    static final Map<String, String> JSON_AGGREGATES = Map.of(
            "jsonb_agg", "to_jsonb",
            "json_agg", "to_jsonb",
            "jsonb_object_agg", "json_members",
            "json_object_agg", "json_members");

    private FunctionNames() {}

    /** The name of a called function: with its schema if that is one that users made. */
    public static Optional<String> of(SqlCall call) {
        return identifier(call).map(identifier -> {
            List<String> names = identifier.names;
            return names.size() == 1 || RelationNames.isAlwaysThere(names.get(0))
                    ? names.get(names.size() - 1)
                    : RelationNames.written(names);
        });
    }

    private static Optional<SqlIdentifier> identifier(SqlCall call) {
        return call.getOperator() instanceof SqlFunction function
                ? Optional.ofNullable(function.getSqlIdentifier())
                : Optional.empty();
    }

    /** What the catalog has by the name of a called function, which the statement refers to then; 3F000 if there is no such schema. */
    public static Optional<UserFunction> find(SqlCall call, QueryContext context) {
        Optional<SqlIdentifier> identifier = identifier(call);
        if (identifier.isEmpty()) {
            return Optional.empty();
        }
        List<String> names = identifier.get().names;
        String schema = names.size() > 1 ? names.get(0) : "";
        if (!schema.isEmpty()) {
            requireSchema(RelationNames.written(names), identifier.get(), context);
        }
        String name = schema.equals(RelationNames.PUBLIC) ? RelationNames.written(names) : of(call).orElseThrow();
        Optional<UserFunction> found = context.catalog().userFunction(name);
        found.filter(function -> context.catalog().isMadeByUser(name))
                .ifPresent(function -> context.refersTo(identifier.get(), function.name()));
        return found;
    }

    /** 3F000 if a function's name, as {@link #of} has it, is said to be in a schema that is not there. */
    static void requireSchema(String name, SqlNode where, QueryContext context) {
        String schema = RelationNames.prefix(name);
        if (!schema.isEmpty() && !context.catalog().isSchema(schema)) {
            throw Errors.error(SqlState.INVALID_SCHEMA_NAME, "schema \"" + schema + "\" does not exist", where);
        }
    }

    /** Whether a name is that of an aggregate; users' functions hide those of the same name. */
    public static boolean isAggregate(String name, QueryContext context) {
        return context.catalog()
                .userFunction(name)
                .map(function -> function.kind() == UserFunction.Kind.AGGREGATE)
                .orElseGet(() -> isAggregate(name));
    }

    /** Whether a name is that of an aggregate, or of one that is made of another. */
    static boolean isAggregate(String name) {
        return isPlainAggregate(name) || AggregateMacros.contains(name);
    }

    static boolean isPlainAggregate(String name) {
        return Aggregates.byName(name).isPresent()
                || JSON_AGGREGATES.containsKey(name)
                || CollectedAggregates.contains(name)
                || DerivedAggregates.contains(name);
    }

    /** All functions that a statement can call, but for users' and those over PostgreSQL's catalog. */
    public static Set<String> all() {
        Set<String> names = new TreeSet<>(FunctionResolver.names());
        names.addAll(BuiltInFunctions.names());
        names.addAll(ScalarBinder.NOW.keySet());
        names.addAll(TableCalls.names());
        names.addAll(Aggregates.names());
        names.addAll(DerivedAggregates.names());
        names.addAll(CollectedAggregates.names());
        names.addAll(JSON_AGGREGATES.keySet());
        names.addAll(AggregateMacros.names());
        names.addAll(WindowBinder.names());
        names.addAll(SpecialCalls.NAMES);
        names.addAll(WindowFills.NAMES);
        names.addAll(List.of(
                "clock_timestamp", "gen_random_uuid", "generate_series", "grouping", "num_nonnulls", "num_nulls"));
        names.addAll(List.of("pg_typeof", "position", "random", "time_bucket_gapfill", "uuid_generate_v4"));
        return names;
    }

    /** The functions that are called by name, aggregates among them or not. */
    public static Set<String> named(boolean aggregates) {
        Set<String> ofGroups = new TreeSet<>(Aggregates.names());
        ofGroups.addAll(DerivedAggregates.names());
        ofGroups.addAll(CollectedAggregates.names());
        ofGroups.addAll(JSON_AGGREGATES.keySet());
        ofGroups.addAll(AggregateMacros.names());
        if (aggregates) {
            return ofGroups;
        }
        Set<String> others = all();
        others.removeAll(ofGroups);
        return others;
    }
}
