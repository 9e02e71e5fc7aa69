package dev.millrace.sql.bind.expression;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.RelationLookUp;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlBinaryOperator;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.fun.SqlCase;
import org.apache.calcite.sql.fun.SqlLikeOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/**
 * Binds one expression over the columns of a scope. Functions by name are {@link FunctionBinder}'s, comparisons {@link
 * ComparisonBinder}'s, casts {@link CastBinder}'s, arrays, rows and JSON {@link NestedBinder}'s.
 */
public final class ExpressionBinder {
    /** Infix operators of PostgreSQL by the name of their function; ! negates. */
    private static final Map<String, String> OPERATORS = Map.ofEntries(
            Map.entry("||", "text_concat"),
            Map.entry("%", "mod"),
            Map.entry("^", "power"),
            Map.entry("^@", "starts_with"),
            Map.entry("~", "regex_match"),
            Map.entry("~*", "regex_imatch"),
            Map.entry("!~", "!regex_match"),
            Map.entry("!~*", "!regex_imatch"),
            Map.entry("~~", "like"),
            Map.entry("~~*", "ilike"),
            Map.entry("!~~", "!like"),
            Map.entry("!~~*", "!ilike"),
            Map.entry("&", "bit_and"),
            Map.entry("|", "bit_or"),
            Map.entry("#", "bit_xor"),
            Map.entry("<<", "shift_left"),
            Map.entry(">>", "shift_right"));

    private static final int MOST_DIMENSIONS = 6; // PostgreSQL's limit; types and their names grow with each

    private final QueryContext context;
    private final Scope scope;
    private final Clause clause;
    private final FunctionBinder functions;
    private final ComparisonBinder comparisons;
    private final NestedBinder nested;

    public ExpressionBinder(QueryContext context, Scope scope, Clause clause) {
        this.context = context;
        this.scope = scope;
        this.clause = clause;
        this.functions = new FunctionBinder(context, this, clause);
        this.comparisons = new ComparisonBinder(context, this);
        this.nested = new NestedBinder(context, this);
    }

    public Scope scope() {
        return scope;
    }

    Clause clause() {
        return clause;
    }

    /** The same place in the query with other rules, as inside the arguments of an aggregate. */
    public ExpressionBinder within(Clause inner) {
        return new ExpressionBinder(context, scope, inner);
    }

    public List<RexNode> bindAll(List<? extends SqlNode> nodes) {
        List<RexNode> bound = new ArrayList<>(nodes.size());
        for (SqlNode node : nodes) {
            bound.add(bind(node));
        }
        return bound;
    }

    /** The expression; its type may still be unknown. */
    public RexNode bind(SqlNode node) {
        Interrupt.checkCurrent();
        if (node instanceof SqlIdentifier identifier) {
            return column(identifier);
        }
        if (node instanceof SqlLiteral literal) {
            return ConstantBinder.bind(literal);
        }
        if (node instanceof SqlDynamicParam) {
            return parameter(node);
        }
        if (node instanceof SqlCase caseNode) {
            return caseOf(caseNode);
        }
        if (node.isA(SqlKind.QUERY)) {
            return new SubQueryBinder(context, this).scalar(node);
        }
        if (node instanceof SqlCall call) {
            return call(call);
        }
        throw Errors.error(SqlState.SYNTAX_ERROR, "syntax error in an expression", node);
    }

    /** A condition. */
    public RexNode bindCondition(SqlNode node) {
        return context.coercions().condition(bind(node), clause.name(), node);
    }

    /** The expression as a value of a type, as an assignment converts. */
    public RexNode bindAs(SqlNode node, DataType type) {
        return context.coercions().convert(bind(node), type, Strength.ASSIGNMENT, node);
    }

    // ---- leaves ----------------------------------------------------------------------------------------------------

    private RexNode column(SqlIdentifier identifier) {
        if (identifier.isStar() && identifier.names.size() > 1) {
            return new RowBinder(context, this).wholeRow(identifier);
        }
        if (identifier.isStar()) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "\"*\" is not allowed here", identifier);
        }
        try {
            RexNode column = scope.resolve(identifier);
            clause.sawColumn(column, identifier);
            return column;
        } catch (MillraceException e) {
            Optional<SqlIdentifier> ours = RelationLookUp.columnInDatabase(context, identifier);
            if (ours.isPresent()) {
                return column(ours.get());
            }
            // A column may be called "user" here; where none is, the word is PostgreSQL's CURRENT_USER.
            boolean user = identifier.isSimple() && identifier.getSimple().equals("user");
            if (!user || e.sqlState() != SqlState.UNDEFINED_COLUMN) {
                return new RowBinder(context, this).otherwise(identifier, e);
            }
            return context.catalog()
                    .sessionFunction("user", List.of())
                    .map(Rex::text)
                    .orElseThrow(() -> e);
        }
    }

    /** A column of this scope or one around it, however many have its name. */
    public RexNode column(Scope.Column column, SqlIdentifier name) {
        RexNode value = scope.reference(column);
        clause.sawColumn(value, name);
        return value;
    }

    private RexNode parameter(SqlNode node) {
        String source = context.source();
        int from = node.getParserPosition().getColumnNum();
        int to = from;
        while (to < source.length() && Character.isDigit(source.charAt(to))) {
            to++;
        }
        return context.parameters().reference(Integer.parseInt(source.substring(from, to)), node);
    }

    // ---- calls -----------------------------------------------------------------------------------------------------

    private RexNode call(SqlCall call) {
        List<SqlNode> operands = call.getOperandList();
        switch (call.getKind()) {
            case AND -> {
                return logic("and", operands);
            }
            case OR -> {
                return logic("or", operands);
            }
            case NOT -> {
                return Rex.not(context.coercions().condition(bind(operands.get(0)), "NOT", operands.get(0)));
            }
            case EQUALS -> {
                return comparisons.compare("eq", call);
            }
            case NOT_EQUALS -> {
                return comparisons.compare("ne", call);
            }
            case LESS_THAN -> {
                return comparisons.compare("lt", call);
            }
            case LESS_THAN_OR_EQUAL -> {
                return comparisons.compare("le", call);
            }
            case GREATER_THAN -> {
                return comparisons.compare("gt", call);
            }
            case GREATER_THAN_OR_EQUAL -> {
                return comparisons.compare("ge", call);
            }
            case IS_DISTINCT_FROM -> {
                return comparisons.compare("is_distinct_from", call);
            }
            case IS_NOT_DISTINCT_FROM -> {
                return comparisons.compare("is_not_distinct_from", call);
            }
            case PLUS -> {
                return operator("add", call);
            }
            case MINUS -> {
                List<RexNode> both = bindAll(operands);
                return nested.operator("-", both, call)
                        .orElseGet(() -> context.functions().operator("subtract", both, call));
            }
            case TIMES -> {
                return operator("multiply", call);
            }
            case DIVIDE -> {
                return operator("divide", call);
            }
            case MINUS_PREFIX -> {
                return operator("negate", call);
            }
            case PLUS_PREFIX -> {
                return bind(operands.get(0));
            }
            case IS_NULL -> {
                return call.getOperator() == SqlStdOperatorTable.IS_UNKNOWN
                        ? truthTest("is_null", "IS UNKNOWN", operands.get(0))
                        : nullTest("is_null", operands.get(0));
            }
            case IS_NOT_NULL -> {
                return call.getOperator() == SqlStdOperatorTable.IS_NOT_UNKNOWN
                        ? truthTest("is_not_null", "IS NOT UNKNOWN", operands.get(0))
                        : nullTest("is_not_null", operands.get(0));
            }
            case IS_TRUE -> {
                return truthTest("is_true", operands.get(0));
            }
            case IS_NOT_TRUE -> {
                return truthTest("is_not_true", operands.get(0));
            }
            case IS_FALSE -> {
                return truthTest("is_false", operands.get(0));
            }
            case IS_NOT_FALSE -> {
                return truthTest("is_not_false", operands.get(0));
            }
            case BETWEEN -> {
                return comparisons.between(call);
            }
            case LIKE -> {
                SqlLikeOperator like = (SqlLikeOperator) call.getOperator();
                RexNode match = operator(like.isCaseSensitive() ? "like" : "ilike", call);
                return like.isNegated() ? Rex.not(match) : match;
            }
            case SIMILAR -> {
                RexNode match = operator("similar_to", call);
                return ((SqlLikeOperator) call.getOperator()).isNegated() ? Rex.not(match) : match;
            }
            case CAST -> {
                return new CastBinder(context, this).bind(call);
            }
            case SAFE_CAST -> {
                return new CastBinder(context, this).attempt(call);
            }
            case IN -> {
                return comparisons.in(call);
            }
            case NOT_IN -> {
                return Rex.not(comparisons.in(call));
            }
            case EXISTS -> {
                return new SubQueryBinder(context, this).exists(operands.get(0));
            }
            case SOME, ALL -> {
                return comparisons.quantified(call);
            }
            case ARRAY_VALUE_CONSTRUCTOR -> {
                return array(call);
            }
            case ARRAY_QUERY_CONSTRUCTOR -> {
                return new SubQueryBinder(context, this).array(operands.get(0), call);
            }
            case ROW -> {
                return nested.row(call);
            }
            case ITEM -> {
                return nested.item(call);
            }
            case DOT -> {
                return nested.dot(call);
            }
            case OTHER -> {
                if (call.getOperator() instanceof SqlBinaryOperator) {
                    return infix(call);
                }
            }
            default -> {}
        }
        return functions.call(call);
    }

    private RexNode operator(String name, SqlCall call) {
        return context.functions().operator(name, bindAll(call.getOperandList()), call);
    }

    private RexNode infix(SqlCall call) {
        String symbol = call.getOperator().getName();
        if (symbol.equals("at time zone")) {
            List<RexNode> operands = bindAll(call.getOperandList());
            if (Coercions.type(operands.get(1)).kind() == Kind.INTERVAL) {
                return atOffset(operands, call);
            }
            return context.functions()
                    .function("timezone", "timezone", List.of(operands.get(1), operands.get(0)), call);
        }
        if (symbol.equals("overlaps")) {
            return functions.overlaps(call);
        }
        if (symbol.endsWith(" any") || symbol.endsWith(" all")) {
            return comparisons.like(symbol, call);
        }
        List<RexNode> operands = bindAll(call.getOperandList());
        Optional<RexNode> ofNested = nested.operator(symbol, operands, call);
        if (ofNested.isPresent()) {
            return ofNested.get();
        }
        String name = OPERATORS.get(symbol);
        if (name == null) {
            throw FunctionResolver.noOperator(symbol, operands, call);
        }
        if (name.equals("starts_with")) {
            return context.functions().function(name, symbol, operands, call);
        }
        if (name.equals("text_concat")) {
            return concatenation(operands, call);
        }
        RexNode result = context.functions().operator(name.startsWith("!") ? name.substring(1) : name, operands, call);
        return name.startsWith("!") ? Rex.not(result) : result;
    }

    /** A time zone that is its distance from UTC. */
    private RexNode atOffset(List<RexNode> operands, SqlCall call) {
        boolean local = Coercions.type(operands.get(0)).kind() != Kind.TIMESTAMPTZ;
        RexNode time = local ? operands.get(0) : Rex.cast(operands.get(0), DataType.TIMESTAMP);
        RexNode moved = context.functions().operator(local ? "subtract" : "add", List.of(time, operands.get(1)), call);
        return local ? Rex.cast(moved, DataType.TIMESTAMPTZ) : moved;
    }

    /** {@code ||} takes anything next to a text. */
    private RexNode concatenation(List<RexNode> operands, SqlCall call) {
        boolean text = operands.stream()
                .anyMatch(node -> Coercions.isUnknown(node) || Coercions.isCharacter(Coercions.type(node)));
        List<RexNode> texts = text
                ? operands.stream()
                        .map(node -> Coercions.isCharacter(Coercions.type(node))
                                ? node
                                : context.coercions().convert(node, DataType.TEXT))
                        .toList()
                : operands;
        return context.functions().operator("text_concat", texts, call);
    }

    private RexNode logic(String name, List<SqlNode> operands) {
        List<RexNode> terms = new ArrayList<>();
        boolean nullable = false;
        SqlKind kind = name.equals("and") ? SqlKind.AND : SqlKind.OR;
        for (SqlNode operand : operands) {
            RexNode term = context.coercions().condition(bind(operand), name.toUpperCase(Locale.ROOT), operand);
            nullable |= term.getType().isNullable();
            if (term.isA(kind)) {
                terms.addAll(((RexCall) term).getOperands());
            } else {
                terms.add(term);
            }
        }
        return Rex.call(name, terms, DataType.BOOLEAN, nullable);
    }

    private RexNode nullTest(String name, SqlNode operand) {
        RexNode node = context.coercions().decided(bind(operand));
        return Coercions.type(node).kind() == Kind.ROW
                ? nested.nullTest(name, node)
                : Rex.call(name, List.of(node), DataType.BOOLEAN, false);
    }

    private RexNode truthTest(String name, SqlNode operand) {
        return truthTest(name, name.toUpperCase(Locale.ROOT).replace('_', ' '), operand);
    }

    private RexNode truthTest(String name, String shown, SqlNode operand) {
        RexNode node = context.coercions().condition(bind(operand), shown, operand);
        return Rex.call(name, List.of(node), DataType.BOOLEAN, false);
    }

    // ---- CASE and CAST ---------------------------------------------------------------------------------------------

    private RexNode caseOf(SqlCase node) {
        List<RexNode> conditions = new ArrayList<>();
        List<RexNode> results = new ArrayList<>();
        Optional<RexNode> value = Optional.ofNullable(node.getValueOperand()).map(this::bind);
        for (SqlNode when : node.getWhenOperands()) {
            conditions.add(
                    value.isPresent()
                            ? context.functions().operator("eq", List.of(value.get(), bind(when)), when)
                            : context.coercions().condition(bind(when), "CASE/WHEN", when));
        }
        results.addAll(bindAll(node.getThenOperands().getList()));
        SqlNode otherwise = node.getElseOperand();
        results.add(otherwise == null ? Rex.nullOf(DataType.NULL) : bind(otherwise));
        SetFunctions.reject(results, "CASE", node);
        SetFunctions.reject(conditions, "CASE", node);
        DataType type = commonType("CASE", results, node);
        List<RexNode> operands = new ArrayList<>();
        boolean nullable = false;
        for (int i = 0; i < results.size(); i++) {
            SqlNode where =
                    i < conditions.size() ? node.getThenOperands().get(i) : otherwise == null ? node : otherwise;
            RexNode result = context.coercions().convert(results.get(i), type, Strength.IMPLICIT, where);
            nullable |= result.getType().isNullable();
            if (i < conditions.size()) {
                operands.add(conditions.get(i));
            }
            operands.add(result);
        }
        return Rex.builder().makeCall(TypeMapper.relType(type, nullable), SqlStdOperatorTable.CASE, operands);
    }

    /** The type that all can become, or 42804. */
    DataType commonType(String what, List<RexNode> nodes, SqlNode where) {
        return Coercions.common(nodes).orElseThrow(() -> {
            List<String> types = nodes.stream()
                    .map(Coercions::type)
                    .filter(type -> type.kind() != Kind.NULL)
                    .map(Coercions::name)
                    .distinct()
                    .toList();
            return Errors.error(
                    SqlState.DATATYPE_MISMATCH,
                    what + " types " + String.join(" and ", types) + " cannot be matched",
                    where);
        });
    }

    private RexNode array(SqlCall call) {
        List<RexNode> elements = bindAll(call.getOperandList());
        DataType common = commonType("ARRAY", elements, call);
        boolean constant = elements.stream().allMatch(RexUtil::isConstant);
        DataType type = constant ? Coercions.keepingDigits(common, elements) : common;
        int dimensions = 1;
        for (DataType inner = type; inner.kind() == Kind.ARRAY; inner = inner.element()) {
            dimensions++;
        }
        if (dimensions > MOST_DIMENSIONS) {
            throw Errors.error(
                    SqlState.PROGRAM_LIMIT_EXCEEDED,
                    "number of array dimensions (" + dimensions + ") exceeds the maximum allowed (" + MOST_DIMENSIONS
                            + ")",
                    call);
        }
        List<RexNode> converted = elements.stream()
                .map(element -> context.coercions().convert(element, type, Strength.IMPLICIT, call))
                .toList();
        return Rex.builder()
                .makeCall(
                        TypeMapper.relType(DataType.array(type), false),
                        SqlStdOperatorTable.ARRAY_VALUE_CONSTRUCTOR,
                        converted);
    }
}
