package dev.millrace.sql.bind.expression;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.InlinedFunction;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.RelationLookUp;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.bind.type.TypeNames;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.syntax.IntervalFields;
import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;

/**
 * Binds explicit casts, with what PostgreSQL reads into them: days by name, names of the catalog, dimensions of arrays, JSON paths, relations'
 * names as types of rows.
 */
final class CastBinder {
    private final QueryContext context;
    private final ExpressionBinder expressions;

    CastBinder(QueryContext context, ExpressionBinder expressions) {
        this.context = context;
        this.expressions = expressions;
    }

    /** {@code CAST(a AS t)} and {@code a::t}. */
    RexNode bind(SqlCall call) {
        TypeSpec spec = (TypeSpec) ((SqlDataTypeSpec) call.operand(1)).getTypeNameSpec();
        Optional<RexNode> name = catalogName(spec, call);
        if (name.isPresent()) {
            return name.get();
        }
        DataType target = type(spec);
        JsonRecordBinder records = new JsonRecordBinder(context, expressions);
        Optional<RexNode> json = records.givenValue(call.operand(0));
        if (json.isPresent() && JsonRecordBinder.isOfParts(target)) {
            return records.value(json.get(), target, call);
        }
        RexNode operand = json.isPresent() ? records.text(json.get(), call) : expressions.bind(call.operand(0));
        Optional<IntervalFields> fields = TypeNames.fields(spec);
        RexNode value = fields.isPresent()
                ? interval(operand, fields.get(), call)
                : to(operand, nested(operand, target), TypeNames.isUndeclaredNumeric(spec), call.operand(0));
        if (spec.name().equals(TypeNames.JSON_PATH) && spec.dimensions() == 0) {
            return context.functions().operator("json_path", List.of(value), call);
        }
        boolean time = target.isTimestamp() || target.kind() == Kind.TIME || target.kind() == Kind.INTERVAL;
        if (time && !spec.arguments().isEmpty() && spec.arguments().get(0) < 6) {
            RexNode digits = Rex.literal(new Literal((long) spec.arguments().get(0), DataType.INTEGER));
            return context.functions().operator("round_time", List.of(value, digits), call);
        }
        return value;
    }

    /** A type by its name, which may be that of a relation: the type of its rows. */
    private DataType type(TypeSpec spec) {
        try {
            return TypeNames.resolve(spec);
        } catch (MillraceException e) {
            if (e.sqlState() != SqlState.UNDEFINED_OBJECT) {
                throw e;
            }
            Relation relation = RelationLookUp.find(context, spec.getTypeName()).orElseThrow(() -> e);
            context.names(relation);
            DataType type = DataType.row(relation.schema().fields().stream()
                    .map(field -> new Field(field.name(), field.type(), true))
                    .toList());
            for (int i = 0; i < spec.dimensions(); i++) {
                type = DataType.array(type);
            }
            return type;
        }
    }

    /** As an interval of some fields, which say what a constant means. */
    private RexNode interval(RexNode operand, IntervalFields fields, SqlCall call) {
        Optional<String> text = Coercions.unknownText(operand);
        if (text.isPresent()) {
            try {
                Literal value = Literals.parse(DataType.INTERVAL, fields.read(text.get()));
                return Rex.literal(new Literal(fields.cut((IntervalValue) value.value()), DataType.INTERVAL));
            } catch (MillraceException e) {
                throw Errors.at(e, call.operand(0));
            }
        }
        RexNode value = context.coercions().convert(operand, DataType.INTERVAL, Strength.EXPLICIT, call.operand(0));
        return fields.cuts()
                ? context.functions().operator("date_trunc", List.of(Rex.text(fields.lastName()), value), call)
                : value;
    }

    /** {@code TRY_CAST(a AS t)}: NULL where the cast of a value fails; that there is no such cast is still an error. */
    RexNode attempt(SqlCall call) {
        RexNode operand = expressions.bind(call.operand(0));
        if (Coercions.isUnknown(operand)) {
            try {
                return bind(call);
            } catch (MillraceException e) {
                if (e.sqlState() == SqlState.FEATURE_NOT_SUPPORTED || e.sqlState() == SqlState.UNDEFINED_OBJECT) {
                    throw e;
                }
                return Rex.nullOf(type((TypeSpec) ((SqlDataTypeSpec) call.operand(1)).getTypeNameSpec()));
            }
        }
        RexNode cast = bind(call);
        return cast instanceof RexCall made
                        && made.getKind() == SqlKind.CAST
                        && made.getOperands().get(0).equals(operand)
                ? Rex.call("try_cast", List.of(operand), Coercions.type(cast), true)
                : cast;
    }

    /** As in PostgreSQL, an array or its text says how many dimensions it has, whatever the type is called. */
    private static DataType nested(RexNode operand, DataType target) {
        DataType type = target;
        int depth = dimensions(target);
        if (depth == 0) {
            return target;
        }
        String braces = Coercions.unknownText(operand).orElse("").replace(" ", "");
        int given = Coercions.isUnknown(operand) ? 0 : dimensions(Coercions.type(operand));
        for (int i = depth; i < given || i < braces.length() && braces.startsWith("{".repeat(i + 1)); i++) {
            type = DataType.array(type);
        }
        return type;
    }

    private static int dimensions(DataType type) {
        int dimensions = 0;
        for (DataType element = type; element.kind() == Kind.ARRAY; element = element.element()) {
            dimensions++;
        }
        return dimensions;
    }

    /** {@code 'mv'::regclass} is the number of what has a name, {@code oid::regclass} the name of what has a number. */
    private Optional<RexNode> catalogName(TypeSpec spec, SqlCall call) {
        if (!spec.name().startsWith("reg") || spec.dimensions() > 0) {
            return Optional.empty();
        }
        SqlNode operand = call.operand(0);
        boolean named = true;
        if (!(operand instanceof SqlDynamicParam)) {
            RexNode value = expressions.bind(operand);
            if (RexUtil.isNullLiteral(value, true)) {
                return Optional.of(Rex.cast(value, DataType.INTEGER)); // needs no look into the catalog
            }
            named = isName(value);
        }
        return context.catalog()
                .userFunction(spec.name() + (named ? "_number" : "_name"))
                .map(function -> expressions.bind(InlinedFunction.body(
                        function, InlinedFunction.qualified(List.of(operand), expressions.scope()), call)));
    }

    private static boolean isName(RexNode value) {
        return switch (Coercions.type(value).kind()) {
            case NULL, TEXT, VARCHAR, CHAR -> true;
            default -> false;
        };
    }

    /** The operand as a type, which is the one asked for except for a NUMERIC without digits. */
    RexNode to(RexNode operand, DataType target, boolean undeclaredNumeric, SqlNode where) {
        DataType type = Coercions.type(operand);
        DataType exact = target;
        if (undeclaredNumeric) {
            Optional<String> text = Coercions.unknownText(operand);
            if (text.isPresent()) {
                try {
                    return FunctionResolver.numericOf(text.get());
                } catch (MillraceException e) {
                    throw Errors.at(e, where);
                }
            }
            if (type.isInteger() || type.kind() == Kind.NUMERIC) {
                exact = Coercions.asNumeric(operand);
            }
        }
        return context.coercions().convert(operand, exact, Strength.EXPLICIT, where);
    }
}
