package dev.millrace.sql.bind.change;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.bind.type.TypeNames;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.catalog.TableConflict;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.catalog.TableRules.Check;
import dev.millrace.sql.catalog.TableRules.Unique;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.RowRules;
import dev.millrace.sql.syntax.IntervalFields;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.util.SqlBasicVisitor;

/** Binds what rows of a relation take and must hold: DEFAULT, GENERATED and CHECK. */
public final class RuleBinder {
    private static final int MOST_DIGITS = 6; // of seconds, which all times have

    private static final SqlNode NOWHERE = SqlLiteral.createNull(SqlParserPos.ZERO); // of what no text says

    private final QueryContext context;
    private final Relation relation;

    /** @param relation its columns; of its rules only those that are bound already */
    public RuleBinder(QueryContext context, Relation relation) {
        this.context = context;
        this.relation = relation;
    }

    // ---- CREATE ----------------------------------------------------------------------------------------------------

    /** The rules of a new relation, each of which could be bound. */
    public TableRules define(Syntax.CreateRelation create) {
        Map<String, ColumnRule> columns = new LinkedHashMap<>();
        for (int i = 0; i < create.columns().size(); i++) {
            Syntax.Column column = create.columns().get(i);
            int place = i;
            column.rule()
                    .ifPresent(rule ->
                            columns.put(column.name().getSimple(), rule(rule, place, column.name(), create.name())));
        }
        Relation with = new Relation(
                relation.name(),
                relation.kind(),
                relation.schema(),
                relation.appendOnly(),
                relation.primaryKey(),
                Optional.empty(),
                new TableRules(columns, List.of(), List.of(), Map.of()));
        RuleBinder binder = new RuleBinder(context, with);
        create.columns().stream()
                .flatMap(column -> column.rule().stream())
                .filter(rule -> rule.kind() == ColumnRule.Kind.GENERATED)
                .forEach(rule -> binder.requireBase(rule.expression().orElseThrow()));
        List<Check> checks = checks(create);
        if (relation.kind() != Relation.Kind.TABLE && !create.foreignKeys().isEmpty()) {
            throw Errors.error(
                    SqlState.INVALID_TABLE_DEFINITION,
                    "a stream keeps no rows: REFERENCES is for tables",
                    create.columns().get(0).name());
        }
        return new TableRules(
                columns, checks, uniques(create, checks), digits(create), conflict(create), create.foreignKeys());
    }

    private Optional<TableConflict> conflict(Syntax.CreateRelation create) {
        return create.conflict().map(clause -> {
            SqlNode where = create.columns().get(0).name();
            if (create.primaryKey().isEmpty()) {
                throw Errors.error(
                        SqlState.INVALID_TABLE_DEFINITION, "ON CONFLICT is for a table with a primary key", where);
            }
            boolean nothing = clause.action() == TableConflict.Action.NOTHING;
            boolean appendOnly =
                    create.options().getOrDefault("append_only", "").equals("true");
            if (appendOnly && !nothing) {
                throw Errors.error(
                        SqlState.INVALID_TABLE_DEFINITION,
                        "a table that is APPEND ONLY changes no rows: of ON CONFLICT it takes DO NOTHING",
                        where);
            }
            if (nothing && !clause.versions().isEmpty()) {
                throw Errors.error(
                        SqlState.INVALID_TABLE_DEFINITION,
                        "ON CONFLICT DO NOTHING looks at no version",
                        clause.versions().get(0));
            }
            return new TableConflict(
                    clause.action(),
                    clause.versions().stream().map(this::version).toList());
        });
    }

    private String version(SqlIdentifier name) {
        Field field = relation.schema().field(new ChangeTarget(context, relation).column(name));
        DataType type = field.type();
        boolean ordered = type.isNumber()
                || type.isText() && type.kind() != DataType.Kind.JSONB
                || type.isTimestamp()
                || type.kind() == DataType.Kind.DATE
                || type.kind() == DataType.Kind.TIME;
        if (!ordered) {
            throw Errors.error(
                    SqlState.DATATYPE_MISMATCH,
                    "versions are numbers, times or texts, but \"" + field.name() + "\" is " + Coercions.name(type),
                    name);
        }
        return field.name();
    }

    private static Map<String, Integer> digits(Syntax.CreateRelation create) {
        Map<String, Integer> digits = new LinkedHashMap<>();
        for (Syntax.Column column : create.columns()) {
            List<Integer> arguments = column.type().arguments();
            Optional<IntervalFields> fields = TypeNames.fields(column.type()).filter(IntervalFields::cuts);
            if (fields.isPresent()) {
                digits.put(column.name().getSimple(), fields.get().number());
            } else if (!arguments.isEmpty() && arguments.get(0) < MOST_DIGITS && isOfSeconds(column.type())) {
                digits.put(column.name().getSimple(), arguments.get(0));
            }
        }
        return digits;
    }

    private static boolean isOfSeconds(TypeSpec type) {
        DataType resolved = TypeNames.resolve(type);
        return resolved.isTimestamp()
                || resolved.kind() == DataType.Kind.TIME
                || resolved.kind() == DataType.Kind.INTERVAL;
    }

    private ColumnRule rule(Syntax.RuleClause rule, int column, SqlNode name, String table) {
        Field field = relation.schema().field(column);
        switch (rule.kind()) {
            case DEFAULT -> {
                SqlNode expression = rule.expression().orElseThrow();
                requireOwn(byDefault(column, expression), "DEFAULT expression", expression);
                return new ColumnRule(rule.kind(), rule.text());
            }
            case UUID -> {
                if (field.type().kind() != DataType.Kind.UUID && !field.type().isText()) {
                    throw Errors.error(
                            SqlState.DATATYPE_MISMATCH,
                            "column \"" + field.name() + "\" is of type " + Coercions.name(field.type())
                                    + " but default expression is of type uuid",
                            name);
                }
                return new ColumnRule(rule.kind(), rule.text());
            }
            case SERIAL, IDENTITY, IDENTITY_ALWAYS -> {
                switch (field.type().kind()) {
                    case SMALLINT, INTEGER, BIGINT -> {}
                    default ->
                        throw Errors.error(
                                SqlState.INVALID_PARAMETER_VALUE,
                                "identity column type must be smallint, integer, or bigint",
                                name);
                }
                return new ColumnRule(rule.kind(), "nextval('" + table + "_" + field.name() + "_seq'::regclass)");
            }
            case GENERATED -> {
                SqlNode expression = rule.expression().orElseThrow();
                requireOwn(generated(column, expression), "column generation expression", expression);
                return new ColumnRule(rule.kind(), rule.text());
            }
        }
        throw new AssertionError(rule.kind());
    }

    private RexNode byDefault(int column, SqlNode expression) {
        ExpressionBinder binder =
                new ExpressionBinder(context, Scope.empty(Optional.empty(), context), Clause.plain("DEFAULT"));
        return assigned(context, binder.bind(expression), column, expression, "default expression");
    }

    private RexNode assigned(QueryContext in, RexNode value, int column, SqlNode where, String what) {
        Field field = relation.schema().field(column);
        try {
            return new ChangeTarget(in, relation).assign(in, value, column, where);
        } catch (MillraceException e) {
            if (e.sqlState() != SqlState.DATATYPE_MISMATCH) {
                throw e;
            }
            throw Errors.error(
                    SqlState.DATATYPE_MISMATCH,
                    "column \"" + field.name() + "\" is of type " + Coercions.name(field.type()) + " but " + what
                            + " is of type " + Coercions.name(Coercions.type(value)),
                    where);
        }
    }

    private RowsAtHand rows() {
        return new RowsAtHand(context, List.of(new RowsAtHand.Part(relation.name(), relation.schema())), List.of());
    }

    private RexNode generated(int column, SqlNode expression) {
        RowsAtHand rows = rows();
        ExpressionBinder binder =
                new ExpressionBinder(rows.context(), rows.scope(), Clause.plain("column generation expressions"));
        RexNode value = assigned(rows.context(), binder.bind(expression), column, expression, "generation expression");
        if (!isTimeOfWriting(expression)
                && Stream.of("proctime", "now", "clock_timestamp", "random", "random_uuid")
                        .anyMatch(name -> calls(value, name))) {
            throw Errors.error(SqlState.INVALID_OBJECT_DEFINITION, "generation expression is not immutable", expression)
                    .withHint("DEFAULT now() is the time at which a row is inserted, and in a table GENERATED ALWAYS AS"
                            + " (proctime()) STORED the one at which it was written last");
        }
        return value;
    }

    /** {@code proctime()} alone, of a table: it is in the rows that are written down. A stream's may be read again, later. */
    private boolean isTimeOfWriting(SqlNode expression) {
        return relation.kind() == Relation.Kind.TABLE
                && expression instanceof SqlCall call
                && call.operandCount() == 0
                && call.getOperator().getName().equalsIgnoreCase("proctime");
    }

    /** A generated column is made of columns that are given. */
    private void requireBase(SqlNode expression) {
        RowsAtHand rows = rows();
        RexNode value = new ExpressionBinder(rows.context(), rows.scope(), Clause.plain("GENERATED")).bind(expression);
        for (int column : columnsOf(value)) {
            String name = relation.schema().field(column).name();
            if (relation.rules().isGenerated(name)) {
                throw Errors.error(
                        SqlState.INVALID_OBJECT_DEFINITION,
                        "cannot use generated column \"" + name + "\" in column generation expression",
                        expression);
            }
        }
    }

    private List<Check> checks(Syntax.CreateRelation create) {
        List<Check> checks = new ArrayList<>();
        Set<String> names = new HashSet<>();
        create.checks()
                .forEach(check -> check.name().ifPresent(name -> {
                    if (!names.add(name)) {
                        throw Errors.error(
                                SqlState.DUPLICATE_OBJECT,
                                "check constraint \"" + name + "\" already exists",
                                check.expression());
                    }
                }));
        for (Syntax.CheckClause check : create.checks()) {
            RexNode condition = condition(rows(), check.expression());
            requireOwn(condition, "check constraint", check.expression());
            checks.add(new Check(
                    check.name()
                            .orElseGet(() ->
                                    name(context.catalog().withoutSchema(create.name()), check, condition, names)),
                    check.text()));
        }
        return checks;
    }

    private List<Unique> uniques(Syntax.CreateRelation create, List<Check> checks) {
        Set<String> names = new HashSet<>(checks.stream().map(Check::name).toList());
        List<Unique> uniques = new ArrayList<>();
        for (Syntax.UniqueClause clause : create.uniques()) {
            if (relation.kind() != Relation.Kind.TABLE || clause.columns().isEmpty()) {
                throw Errors.error(
                        relation.kind() == Relation.Kind.TABLE
                                ? SqlState.SYNTAX_ERROR
                                : SqlState.INVALID_TABLE_DEFINITION,
                        relation.kind() == Relation.Kind.TABLE
                                ? "UNIQUE of no columns"
                                : "a stream keeps no rows that another could be like: UNIQUE is for tables",
                        create.columns().get(0).name());
            }
            ChangeTarget target = new ChangeTarget(context, relation);
            List<String> columns = target.columns(clause.columns()).stream()
                    .map(column -> relation.schema().field(column).name())
                    .toList();
            String base = context.catalog().withoutSchema(create.name()) + "_" + String.join("_", columns) + "_key";
            String name = clause.name().orElse(base);
            for (int i = 1; clause.name().isEmpty() && names.contains(name); i++) {
                name = base + i;
            }
            if (!names.add(name)) {
                throw Errors.error(
                        SqlState.DUPLICATE_OBJECT,
                        "constraint \"" + name + "\" already exists",
                        clause.columns().get(0));
            }
            uniques.add(new Unique(name, columns));
        }
        return uniques;
    }

    /** As PostgreSQL names them: {@code table_column_check}, {@code table_check}, with a number where that is taken. */
    private String name(String table, Syntax.CheckClause check, RexNode condition, Set<String> taken) {
        Set<Integer> columns = columnsOf(condition);
        Optional<String> column = check.column()
                .or(() -> columns.size() == 1
                        ? Optional.of(relation.schema()
                                .field(columns.iterator().next())
                                .name())
                        : Optional.empty());
        String base = table + column.map(name -> "_" + name).orElse("") + "_check";
        String name = base;
        for (int i = 1; !taken.add(name); i++) {
            name = base + i;
        }
        return name;
    }

    private static RexNode condition(RowsAtHand rows, SqlNode expression) {
        return new ExpressionBinder(rows.context(), rows.scope(), Clause.plain("CHECK")).bindCondition(expression);
    }

    /** A rule goes by nothing that could be dropped or altered: it has no sub-query, and no relation's name as a type. */
    private static void requireOwn(RexNode value, String what, SqlNode where) {
        if (RexUtil.SubQueryFinder.find(value) != null) {
            throw Errors.error(SqlState.FEATURE_NOT_SUPPORTED, "cannot use subquery in " + what, where);
        }
        where.accept(new SqlBasicVisitor<Void>() {
            @Override
            public Void visit(SqlDataTypeSpec type) {
                TypeSpec spec = (TypeSpec) type.getTypeNameSpec();
                if (!spec.name().startsWith("reg")) { // of the catalog
                    TypeNames.resolve(spec);
                }
                return null;
            }
        });
    }

    private static Set<Integer> columnsOf(RexNode value) {
        Set<Integer> columns = new LinkedHashSet<>();
        value.accept(new RexVisitorImpl<Void>(true) {
            @Override
            public Void visitInputRef(RexInputRef reference) {
                columns.add(reference.getIndex());
                return null;
            }
        });
        return columns;
    }

    private static boolean calls(RexNode value, String function) {
        boolean[] found = new boolean[1];
        value.accept(new RexVisitorImpl<Void>(true) {
            @Override
            public Void visitCall(RexCall call) {
                found[0] |= call.getOperator().getName().equals(function);
                return super.visitCall(call);
            }
        });
        return found[0];
    }

    // ---- for rows that are written ---------------------------------------------------------------------------------

    /** The queries that complete rows of the relation and find those that must not be. */
    public RowRules rules() {
        return new RowRules(generation(), violations());
    }

    private Optional<Query> generation() {
        Schema schema = relation.schema();
        Map<String, Integer> digits = relation.rules().digits();
        if (digits.isEmpty() && schema.names().stream().noneMatch(relation.rules()::isGenerated)) {
            return Optional.empty();
        }
        RowsAtHand rows = rows();
        Scope scope = rows.scope();
        List<RexNode> given = new ArrayList<>(rows.references());
        for (int column = 0; column < schema.size(); column++) {
            given.set(column, rounded(rows, given.get(column), column));
        }
        List<RexNode> values = new ArrayList<>(given);
        for (int column = 0; column < schema.size(); column++) {
            if (relation.rules().isGenerated(schema.field(column).name())) {
                SqlNode expression = StatementParser.parseExpression(relation.rules()
                        .of(schema.field(column).name())
                        .orElseThrow()
                        .text());
                ExpressionBinder binder = new ExpressionBinder(rows.context(), scope, Clause.plain("GENERATED"));
                RexNode value = assigned(rows.context(), binder.bind(expression), column, expression, "expression");
                values.set(column, rounded(rows, digits.isEmpty() ? value : over(given, value), column));
            }
        }
        return Optional.of(rows.query(Optional.empty(), scope, values, schema.names(), scope));
    }

    /** A value of a column, with the digits that it has. */
    private RexNode rounded(RowsAtHand rows, RexNode value, int column) {
        Integer digits =
                relation.rules().digits().get(relation.schema().field(column).name());
        if (digits == null) {
            return value;
        }
        Optional<IntervalFields> fields = IntervalFields.ofNumber(digits);
        if (fields.isPresent()) {
            RexNode last = Rex.text(fields.get().lastName());
            return rows.context().functions().operator("date_trunc", List.of(last, value), NOWHERE);
        }
        RexNode most = Rex.literal(new Literal((long) digits, DataType.INTEGER));
        return rows.context().functions().operator("round_time", List.of(value, most), NOWHERE);
    }

    /** An expression of the row, over what the columns of the row are then. */
    private static RexNode over(List<RexNode> columns, RexNode value) {
        return value.accept(new RexShuttle() {
            @Override
            public RexNode visitInputRef(RexInputRef reference) {
                return columns.get(reference.getIndex());
            }
        });
    }

    /** Rows that fail a check, each check as a column: false where it fails. */
    private Optional<Query> violations() {
        if (relation.rules().checks().isEmpty()) {
            return Optional.empty();
        }
        RowsAtHand rows = rows();
        Scope scope = rows.scope();
        List<RexNode> conditions = new ArrayList<>();
        List<RexNode> failures = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (Check check : relation.rules().checks()) {
            SqlNode expression = StatementParser.parseExpression(check.text());
            conditions.add(
                    new ExpressionBinder(rows.context(), scope, Clause.plain("CHECK")).bindCondition(expression));
            SqlNode failure = StatementParser.parseExpression("(" + check.text() + ") IS FALSE");
            failures.add(new ExpressionBinder(rows.context(), scope, Clause.plain("CHECK")).bindCondition(failure));
            names.add(check.name());
        }
        List<RexNode> values = new ArrayList<>(conditions);
        RexNode any = failures.size() == 1 ? failures.get(0) : Rex.combine("or", failures);
        return Optional.of(rows.query(Optional.of(any), scope, values, names, scope));
    }
}
