package dev.millrace.sql.bind.expression;

import dev.millrace.sql.algebra.Aggregates;
import dev.millrace.sql.bind.function.BuiltInFunctions;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.syntax.RelationNames;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlFunction;

/** Which names are functions', and which of those aggregates'. */
public final class FunctionNames {
    /** Aggregates of JSON: what is made, of a value or of a key and a value. */
    static final Map<String, String> JSON_AGGREGATES = Map.of(
            "jsonb_agg", "to_jsonb",
            "json_agg", "to_jsonb",
            "jsonb_object_agg", "json_members",
            "json_object_agg", "json_members");

    private FunctionNames() {}

    /** The name of a called function, without its schema; 3F000 if there is no such schema. */
    public static Optional<String> of(SqlCall call) {
        if (call.getOperator() instanceof SqlFunction function && function.getSqlIdentifier() != null) {
            RelationNames.requireSchema(function.getSqlIdentifier());
            return Optional.of(function.getSqlIdentifier()
                    .names
                    .get(function.getSqlIdentifier().names.size() - 1));
        }
        return Optional.empty();
    }

    /** Whether a name is that of an aggregate; users' functions hide those of the same name. */
    static boolean isAggregate(String name, QueryContext context) {
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
        names.addAll(List.of(
                "clock_timestamp", "gen_random_uuid", "generate_series", "grouping", "num_nonnulls", "num_nulls"));
        names.addAll(List.of("pg_typeof", "position", "random", "uuid_generate_v4"));
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
