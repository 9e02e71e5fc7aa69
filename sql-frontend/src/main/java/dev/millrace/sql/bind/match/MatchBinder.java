package dev.millrace.sql.bind.match;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.match.MatchSpec;
import dev.millrace.plan.match.MatchSpec.AfterMatch;
import dev.millrace.plan.match.MatchValue;
import dev.millrace.sql.algebra.ExpressionTranslator;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.algebra.MatchRel;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.expression.AggregateBinder.SortSyntax;
import dev.millrace.sql.bind.match.MatchExpressions.Values;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.scope.Scope.Column;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlIntervalLiteral;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlMatchRecognize;
import org.apache.calcite.sql.SqlMatchRecognize.AfterOption;
import org.apache.calcite.sql.SqlMatchRecognize.RowsPerMatchOption;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;

/**
 * Binds MATCH_RECOGNIZE (SQL:2016). Its output has, with ONE ROW PER MATCH, the columns of PARTITION BY and the measures;
 * with ALL ROWS PER MATCH those of PARTITION BY, of ORDER BY, the measures and the rest.
 */
public final class MatchBinder {
    private static final Pattern ROWS_OPTION =
            Pattern.compile("\\s*(show\\s+empty|omit\\s+empty|with\\s+unmatched)\\b", Pattern.CASE_INSENSITIVE);

    private final QueryContext context;
    private final SqlMatchRecognize match;
    private final From from;
    private final Scope scope;
    private final List<RexNode> inputColumns;
    private final List<Column> partition;
    private final List<OrderKey> order;
    private final List<String> names = new ArrayList<>();
    private final List<Expression> outputs = new ArrayList<>();
    private final Values values = new Values();

    public MatchBinder(QueryContext context, From from, SqlMatchRecognize match) {
        this.context = context;
        this.match = match;
        this.from = from;
        this.scope = new Scope(Optional.empty(), from.columns(), from.rel().getRowType(), context);
        this.inputColumns = new ArrayList<>(RelNodes.references(from.rel()));
        this.partition = match.getPartitionList().getList().stream()
                .map(node -> column(node, "PARTITION BY"))
                .toList();
        List<OrderKey> keys = new ArrayList<>();
        for (SqlNode node : match.getOrderList()) {
            SortSyntax syntax = SortSyntax.of(node);
            keys.add(
                    new OrderKey(column(syntax.value(), "ORDER BY").index(), syntax.descending(), syntax.nullsFirst()));
        }
        this.order = List.copyOf(keys);
    }

    private Column column(SqlNode node, String clause) {
        if (!(node instanceof SqlIdentifier name)) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            clause + " of MATCH_RECOGNIZE names columns, no expressions",
                            node)
                    .withHint("compute it in a sub-query that MATCH_RECOGNIZE reads");
        }
        scope.resolve(name);
        return scope.find(name).orElseThrow();
    }

    public From bind() {
        PatternParser.Parsed parsed = PatternParser.parse(
                context.source(), match.getPattern().getParserPosition().getColumnNum() - 1);
        MatchSymbols symbols = symbols(parsed.variables());
        MatchSpec.Rows rows = rows(parsed.excludes());
        MatchExpressions expressions = new MatchExpressions(context, symbols, scope, inputColumns, time());
        List<Optional<MatchSpec.Condition>> conditions = conditions(symbols, expressions);
        MatchSpec spec = new MatchSpec(symbols.all(), parsed.pattern(), conditions, within(), after(symbols), rows);
        boolean one = rows == MatchSpec.Rows.ONE;
        Set<Integer> shown = new LinkedHashSet<>();
        partition.forEach(column -> shown.add(column.index()));
        if (!one) {
            order.forEach(key -> shown.add(key.column()));
        }
        shown.forEach(this::show);
        for (SqlNode node : match.getMeasureList()) {
            measure((SqlCall) node, expressions, rows);
        }
        if (!one) {
            from.columns().stream()
                    .filter(column -> !column.hidden() && shown.add(column.index()))
                    .forEach(column -> show(column.index()));
        }
        return From.of(rel(spec), "", names);
    }

    private RelNode rel(MatchSpec spec) {
        RelNode input = from.rel();
        if (inputColumns.size() > input.getRowType().getFieldCount()) {
            List<String> inputNames = new ArrayList<>(input.getRowType().getFieldNames());
            while (inputNames.size() < inputColumns.size()) {
                inputNames.add("argument");
            }
            input = RelNodes.project(input, inputColumns, inputNames);
        }
        List<RelDataType> types = outputs.stream()
                .map(output -> TypeMapper.relType(output.type(), output.nullable()))
                .toList();
        RelDataType rowType = TypeMapper.factory().createStructType(types, RelNodes.distinctNames(names));
        return new MatchRel(
                input, partition.stream().map(Column::index).toList(), order, spec, values.all(), outputs, rowType);
    }

    // ---- what is shown ---------------------------------------------------------------------------------------------

    private void show(int index) {
        Column column = from.columns().stream()
                .filter(candidate -> candidate.index() == index)
                .findFirst()
                .orElseThrow();
        DataType type = TypeMapper.dataType(column.type());
        boolean nullable = column.type().isNullable();
        int place = values.add(new MatchValue.Shown(index, type, nullable));
        names.add(column.name());
        outputs.add(new Expression.Column(place, type, nullable));
    }

    private void measure(SqlCall as, MatchExpressions expressions, MatchSpec.Rows rows) {
        names.add(((SqlIdentifier) as.operand(1)).getSimple());
        Expression measure = ExpressionTranslator.translate(expressions.measure(as.operand(0), values));
        if (rows == MatchSpec.Rows.ALL_WITH_UNMATCHED) {
            int matched = values.add(new MatchValue.Matched());
            Expression condition = new Expression.Column(matched, DataType.BOOLEAN, false);
            measure = new Expression.Case(
                    List.of(new Expression.Case.Branch(condition, measure)),
                    new Expression.Null(measure.type()),
                    measure.type(),
                    true);
        }
        outputs.add(measure);
    }

    private MatchSpec.Rows rows(boolean excludes) {
        SqlLiteral option = match.getRowsPerMatch();
        if (option == null || option.getValue() == RowsPerMatchOption.ONE_ROW) {
            return MatchSpec.Rows.ONE;
        }
        Matcher words = ROWS_OPTION.matcher(context.source());
        words.region(
                option.getParserPosition().getEndColumnNum(), context.source().length());
        if (!words.lookingAt()) {
            return MatchSpec.Rows.ALL;
        }
        return switch (words.group(1).toLowerCase(Locale.ROOT).charAt(0)) {
            case 's' -> MatchSpec.Rows.ALL;
            case 'o' -> MatchSpec.Rows.ALL_OMIT_EMPTY;
            default -> {
                if (excludes) {
                    throw Errors.error(
                            SqlState.SYNTAX_ERROR,
                            "WITH UNMATCHED ROWS and an exclusion {- -} contradict each other",
                            option);
                }
                yield MatchSpec.Rows.ALL_WITH_UNMATCHED;
            }
        };
    }

    // ---- the pattern -----------------------------------------------------------------------------------------------

    private MatchSymbols symbols(List<String> variables) {
        MatchSymbols symbols = new MatchSymbols(variables);
        for (SqlNode node : match.getSubsetList()) {
            SqlCall subset = (SqlCall) node;
            List<SqlIdentifier> members = new ArrayList<>();
            for (SqlNode member : (SqlNodeList) subset.operand(1)) {
                if (!(member instanceof SqlIdentifier name) || !name.isSimple()) {
                    throw Errors.error(SqlState.SYNTAX_ERROR, "SUBSET lists pattern variables", member);
                }
                members.add(name);
            }
            symbols.addSubset(subset.operand(0), members);
        }
        return symbols;
    }

    private List<Optional<MatchSpec.Condition>> conditions(MatchSymbols symbols, MatchExpressions expressions) {
        List<Optional<MatchSpec.Condition>> conditions = new ArrayList<>(Collections.nCopies(
                symbols.all().get(symbols.universal()).variables().size(), Optional.empty()));
        for (SqlNode node : match.getPatternDefList()) {
            SqlCall definition = (SqlCall) node;
            SqlIdentifier name = definition.operand(1);
            int variable = symbols.variable(name);
            if (conditions.get(variable).isPresent()) {
                throw Errors.error(
                        SqlState.DUPLICATE_OBJECT, "\"" + name.getSimple() + "\" is defined more than once", name);
            }
            Values taken = new Values();
            Expression condition = ExpressionTranslator.translate(expressions.condition(definition.operand(0), taken));
            for (MatchValue value : taken.all()) {
                if (value instanceof MatchValue.Number) {
                    throw Errors.notAvailableYet("MATCH_NUMBER() in DEFINE", definition.operand(0))
                            .withHint("use it in MEASURES, and a condition on it in WHERE around MATCH_RECOGNIZE");
                }
            }
            conditions.set(variable, Optional.of(new MatchSpec.Condition(taken.all(), condition)));
        }
        return conditions;
    }

    private Optional<MatchExpressions.OrderColumn> time() {
        return order.stream()
                .findFirst()
                .map(key -> new MatchExpressions.OrderColumn(key.column(), typeOf(key.column())));
    }

    private DataType typeOf(int column) {
        return TypeMapper.dataType(
                from.rel().getRowType().getFieldList().get(column).getType());
    }

    private OptionalLong within() {
        if (!(match.getInterval() instanceof SqlIntervalLiteral literal)) {
            return OptionalLong.empty();
        }
        if (order.isEmpty()
                || order.get(0).descending()
                || !typeOf(order.get(0).column()).isTimestamp()) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "WITHIN needs ORDER BY a time first, ascending", literal);
        }
        String text = literal.getValueAs(SqlIntervalLiteral.IntervalValue.class).getIntervalLiteral();
        try {
            Literal interval = Literals.parse(DataType.INTERVAL, text);
            long micros = Literals.durationMicros((IntervalValue) interval.value());
            if (micros > 0) {
                return OptionalLong.of(micros);
            }
        } catch (MillraceException e) {
            throw Errors.at(e, literal);
        }
        throw Errors.error(
                SqlState.INVALID_PARAMETER_VALUE, "the duration of WITHIN must be greater than zero", literal);
    }

    private AfterMatch after(MatchSymbols symbols) {
        SqlNode after = match.getAfter();
        if (after instanceof SqlCall to) {
            return new AfterMatch.ToSymbol(
                    symbols.named(to.operand(0)), to.getOperator().getKind() != SqlKind.SKIP_TO_FIRST);
        }
        boolean next = after instanceof SqlLiteral option && option.getValue() == AfterOption.SKIP_TO_NEXT_ROW;
        return next ? new AfterMatch.ToNextRow() : new AfterMatch.PastLastRow();
    }
}
