package dev.millrace.sql.bind;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.sql.algebra.ExpressionTranslator;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.bind.change.ChangeBinder;
import dev.millrace.sql.bind.change.RuleBinder;
import dev.millrace.sql.bind.change.WithChangesBinder;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.query.QueryBinder;
import dev.millrace.sql.bind.scope.BoundQuery;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.RelationLookUp;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.bind.type.ParameterTypes;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.bind.type.TypeNames;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.RowRules;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.statement.Statement.WatermarkDefinition;
import dev.millrace.sql.statement.SubscriptionStatement;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * Binds one statement. Use once, on one thread.
 *
 * <p>Long because it has all statements that define something.
 */
public final class StatementBinder {
    private static final DateTimeFormatter MOMENT = new DateTimeFormatterBuilder()
            .appendPattern("uuuu-MM-dd HH:mm:ss")
            .appendFraction(ChronoField.MICRO_OF_SECOND, 0, 6, true)
            .appendLiteral('Z')
            .toFormatter(Locale.ROOT);

    private final QueryContext context;
    private final ParameterTypes parameters;

    /**
     * @param source the text that the syntax tree's positions count in
     * @param parameterCount the highest {@code $n}
     */
    public StatementBinder(String source, Catalog catalog, Parameters parameters, int parameterCount) {
        this.parameters = new ParameterTypes(parameters, parameterCount);
        this.context = new QueryContext(source, catalog, this.parameters, QueryBinder::within);
    }

    /** The names of the functions that are there without being made. */
    public static Set<String> functions(boolean aggregates) {
        return FunctionNames.named(aggregates);
    }

    /** What names in the statement mean, by their places in its text, after {@link #bind}. */
    public Map<SqlIdentifier, String> references() {
        return context.references();
    }

    /** The types of the parameters, after {@link #bind}. */
    public List<DataType> parameterTypes() {
        return parameters.decided();
    }

    /** The same of an INSERT of constants that its relation takes as they are written; empty for another. */
    public Optional<Statement> bindConstants(Syntax.Insert insert) {
        return new ChangeBinder(context).bindConstants(insert);
    }

    /** The statement with names and types resolved. */
    public Statement bind(Syntax syntax) {
        if (syntax instanceof Syntax.Complete complete) {
            return complete.statement();
        }
        if (syntax instanceof Syntax.Select select) {
            context.allowRecursion();
            return new Statement.Select(shown(NamesShown.of(select.query())).withOptions(select.options()));
        }
        if (syntax instanceof Syntax.CreateRelation create) {
            return createRelation(create);
        }
        if (syntax instanceof Syntax.CreateQuery create) {
            Query query = query(create.query(), List.of());
            requireDistinctNames(query.schema());
            return create.kind() == ObjectKind.CONTINUOUS_QUERY
                    ? new Statement.CreateContinuousQuery(
                            create.name(),
                            create.ifExists(),
                            create.options(),
                            query,
                            create.query().text())
                    : new Statement.CreateMaterializedView(
                            create.name(),
                            create.ifExists(),
                            create.options(),
                            query,
                            create.query().text());
        }
        if (syntax instanceof Syntax.CreateStreamAs create) {
            Query query = query(create.query(), List.of());
            requireDistinctNames(query.schema());
            return new Statement.CreateStreamAs(
                    create.name(),
                    create.ifExists(),
                    query,
                    create.watermark()
                            .map(clause -> watermark(clause, query.schema().fields())),
                    create.options());
        }
        if (syntax instanceof Syntax.CreateView create) {
            return view(create);
        }
        if (syntax instanceof Syntax.CreateTableAs create) {
            context.allowRecursion();
            Query query = renamed(query(create.query(), List.of()), create.columns());
            return new Statement.CreateTableAs(
                    create.name(), create.ifExists(), query, create.withData(), create.options());
        }
        if (syntax instanceof Syntax.CreateSink sink) {
            return new Statement.CreateSink(
                    sink.name(),
                    sink.ifExists(),
                    sink.from().map(from -> RelationLookUp.of(context, from).name()),
                    query(sink.query(), List.of()),
                    sink.query().text(),
                    sink.options());
        }
        if (syntax instanceof Syntax.CreateTemplate template) {
            return new Statement.CreateQueryTemplate(
                    template.name(), template.ifExists(), fields(template.parameters(), true), template.queryText());
        }
        if (syntax instanceof Syntax.CreateFromTemplate from) {
            List<Expression> arguments = new ArrayList<>();
            from.arguments().forEach(argument -> arguments.add(constant(argument)));
            return new Statement.CreateFromTemplate(
                    from.name(), from.ifExists(), from.options(), from.template(), arguments);
        }
        if (syntax instanceof Syntax.CreateFunction function) {
            return function(function);
        }
        if (syntax instanceof Syntax.AlterQuery alter) {
            return new Statement.AlterQuery(
                    alter.kind(),
                    alter.name(),
                    query(alter.query(), List.of()),
                    alter.query().text());
        }
        if (syntax instanceof Syntax.Reprocess reprocess) {
            return new Statement.Reprocess(
                    reprocess.kind(),
                    reprocess.name(),
                    moment(reprocess.from()),
                    reprocess.to().map(this::moment),
                    reprocess.beside(),
                    reprocess.queryText());
        }
        if (syntax instanceof Syntax.Subscribe subscribe) {
            return subscribe(subscribe);
        }
        if (syntax instanceof Syntax.Acknowledge acknowledge) {
            return new SubscriptionStatement.AlterSubscription(
                    acknowledge.subscription(), timestampMicros(acknowledge.upTo()));
        }
        if (syntax instanceof Syntax.CopyTo copy) {
            return new Statement.CopyTo(bind(copy.source()), copy.file(), copy.options());
        }
        if (syntax instanceof Syntax.DeclareCursor declare) {
            return new Statement.DeclareCursor(
                    declare.name(), bind(declare.source()), declare.scroll(), declare.hold());
        }
        if (syntax instanceof Syntax.Prepare prepare) {
            return new Statement.Prepare(
                    prepare.name(),
                    prepare.types().stream().map(TypeNames::resolve).toList());
        }
        if (syntax instanceof Syntax.ExecutePrepared execute) {
            List<Expression> arguments = new ArrayList<>();
            execute.arguments().forEach(argument -> arguments.add(constant(argument)));
            return new Statement.ExecutePrepared(execute.name(), arguments);
        }
        if (syntax instanceof Syntax.Describe describe) {
            Relation relation = RelationLookUp.of(context, describe.relation());
            return new Statement.Describe(relation.name(), relation.schema());
        }
        if (syntax instanceof Syntax.DescribeQuery describe) {
            return new Statement.Describe(
                    "", shown(NamesShown.of(describe.query())).schema());
        }
        if (syntax instanceof Syntax.Explain explain) {
            return new Statement.Explain(explain.forms(), bind(explain.statement()));
        }
        if (syntax instanceof Syntax.ExplainAnalyze explain) {
            return new Statement.ExplainAnalyze(bind(explain.statement()));
        }
        if (syntax instanceof Syntax.WithChanges with) {
            return new WithChangesBinder(context).bind(with);
        }
        return new ChangeBinder(context).bind(syntax);
    }

    // ---- queries ---------------------------------------------------------------------------------------------------

    /** @param expected types for columns whose type is open */
    Query query(Syntax.QueryText text, List<DataType> expected) {
        BoundQuery bound = new QueryBinder(context, Optional.empty()).bind(text.query(), expected);
        return QueryBinder.query(context, bound.rel(), bound.names(), text.emit());
    }

    /** The query whose rows somebody reads. */
    private Query shown(Syntax.QueryText text) {
        BoundQuery bound = VectorsShown.of(new QueryBinder(context, Optional.empty()).bind(text.query(), List.of()));
        return QueryBinder.query(context, bound.rel(), bound.names(), text.emit());
    }

    private Query query(RelNode rel, List<String> names, Emit emit) {
        return QueryBinder.query(context, rel, names, emit);
    }

    private Statement view(Syntax.CreateView create) {
        if (!(create.query().emit() instanceof Emit.Unspecified)) {
            throw MillraceException.user(
                            SqlState.SYNTAX_ERROR, "EMIT is for queries that run; a view is expanded where it is read")
                    .withHint("CREATE MATERIALIZED VIEW or CREATE CONTINUOUS QUERY");
        }
        if (parameters.count() > 0) {
            throw MillraceException.user(SqlState.UNDEFINED_PARAMETER, "there is no parameter $1 in a view");
        }
        Query query = renamed(query(create.query(), List.of()), create.columns());
        return new Statement.CreateView(
                create.name(), create.ifExists(), query, create.query().text());
    }

    /** A query whose first columns have other names, and all of them different ones. */
    private static Query renamed(Query query, List<SqlIdentifier> names) {
        List<Field> fields = new ArrayList<>(query.schema().fields());
        if (names.size() > fields.size()) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "too many column names were specified", names.get(fields.size()));
        }
        for (int i = 0; i < names.size(); i++) {
            fields.set(
                    i,
                    new Field(
                            names.get(i).getSimple(),
                            fields.get(i).type(),
                            fields.get(i).nullable()));
        }
        Schema schema = new Schema(fields);
        requireDistinctNames(schema);
        return query.withSchema(schema);
    }

    /** What rows of a relation go through before they are written. */
    public static RowRules rules(Relation relation, Catalog catalog) {
        return new RuleBinder(
                        new QueryContext("", catalog, new ParameterTypes(Parameters.none(), 0), QueryBinder::within),
                        relation)
                .rules();
    }

    private static void requireDistinctNames(Schema schema) {
        Set<String> names = new HashSet<>();
        for (String name : schema.names()) {
            if (!names.add(name)) {
                throw MillraceException.user(
                                SqlState.DUPLICATE_COLUMN, "column \"" + name + "\" specified more than once")
                        .withHint("give one of them another name with AS");
            }
        }
    }

    private Statement subscribe(Syntax.Subscribe subscribe) {
        OptionalLong asOf = subscribe.asOf().isPresent()
                ? OptionalLong.of(timestampMicros(subscribe.asOf().get()))
                : OptionalLong.empty();
        Optional<String> found = subscribe
                .relation()
                .flatMap(relation -> RelationLookUp.find(context, relation))
                .map(Relation::name);
        Optional<String> named = found.or(() -> subscribe.relation().map(relation -> RelationNames.of(relation.names)));
        Optional<String> subscribed = named.filter(name -> found.isEmpty()).flatMap(context.catalog()::subscribed);
        Syntax.QueryText query = subscribed.map(StatementBinder::allOf).orElse(subscribe.query());
        return new Statement.Subscribe(
                named.filter(name -> subscribed.isPresent()),
                subscribed.or(() -> named),
                query(query, List.of()),
                subscribe.snapshot(),
                subscribe.progress(),
                asOf,
                subscribe.onSlow(),
                subscribe.bufferBytes());
    }

    private static Syntax.QueryText allOf(String relation) {
        String prefix = RelationNames.prefix(relation);
        List<String> parts = prefix.isEmpty()
                ? List.of(RelationNames.PUBLIC, relation)
                : List.of(prefix, relation.substring(prefix.length() + 1));
        SqlIdentifier name = new SqlIdentifier(parts, SqlParserPos.ZERO);
        return new Syntax.QueryText(
                SqlStdOperatorTable.EXPLICIT_TABLE.createCall(SqlParserPos.ZERO, name),
                new Emit.Unspecified(),
                "TABLE " + relation);
    }

    // ---- constants -------------------------------------------------------------------------------------------------

    private ExpressionBinder constants(String clause) {
        return new ExpressionBinder(context, Scope.empty(Optional.empty(), context), Clause.plain(clause));
    }

    private Expression constant(SqlNode node) {
        return ExpressionTranslator.translate(
                context.coercions().decided(constants("template arguments").bind(node)));
    }

    private String moment(Syntax.Moment moment) {
        return moment.text().orElseGet(() -> {
            long micros = timestampMicros(moment.time().orElseThrow());
            return LocalDateTime.ofEpochSecond(
                            Math.floorDiv(micros, 1_000_000),
                            (int) Math.floorMod(micros, 1_000_000) * 1000,
                            ZoneOffset.UTC)
                    .format(MOMENT);
        });
    }

    private long timestampMicros(SqlNode node) {
        Expression time =
                ExpressionTranslator.translate(constants("a point in time").bindAs(node, DataType.TIMESTAMPTZ));
        // A TIMESTAMP is taken for UTC here.
        Expression value = time instanceof Expression.Cast cast ? cast.input() : time;
        if (value instanceof Literal literal && literal.type().isTimestamp()) {
            return (Long) literal.value();
        }
        throw Errors.error(SqlState.INVALID_PARAMETER_VALUE, "a point in time must be a constant", node);
    }

    // ---- CREATE STREAM and TABLE -----------------------------------------------------------------------------------

    private Statement createRelation(Syntax.CreateRelation create) {
        List<Field> fields = new ArrayList<>(fields(create.columns(), false));
        Set<String> names = new HashSet<>();
        for (Syntax.Column column : create.columns()) {
            if (!names.add(column.name().getSimple())) {
                throw Errors.error(
                        SqlState.DUPLICATE_COLUMN,
                        "column \"" + column.name().getSimple() + "\" specified more than once",
                        column.name());
            }
        }
        List<String> key = new ArrayList<>();
        for (SqlIdentifier name : create.primaryKey()) {
            int column = columnOf(fields, name, "named in key ");
            key.add(name.getSimple());
            if (column >= 0) {
                Field field = fields.get(column);
                fields.set(column, new Field(field.name(), field.type(), false));
            }
        }
        Optional<WatermarkDefinition> watermark =
                create.watermark().map(clause -> watermark(clause, isIncluded(clause, create) ? List.of() : fields));
        boolean table = create.kind() == ObjectKind.TABLE;
        Relation relation = new Relation(
                create.name(),
                table ? Relation.Kind.TABLE : Relation.Kind.STREAM,
                new Schema(fields),
                !table,
                List.of(),
                Optional.empty());
        TableRules rules = new RuleBinder(context, relation).define(create);
        if (table) {
            return new Statement.CreateTable(
                    create.name(), create.ifExists(), fields, key, rules, watermark, create.options());
        }
        if (!key.isEmpty()) {
            throw Errors.error(
                            SqlState.INVALID_TABLE_DEFINITION,
                            "a stream has no primary key",
                            create.primaryKey().get(0))
                    .withHint("use CREATE TABLE for rows that are replaced by key");
        }
        return new Statement.CreateStream(create.name(), create.ifExists(), fields, rules, watermark, create.options());
    }

    private static List<Field> fields(List<Syntax.Column> columns, boolean nullable) {
        List<Field> fields = new ArrayList<>(columns.size());
        for (Syntax.Column column : columns) {
            fields.add(new Field(
                    column.name().getSimple(), TypeNames.resolve(column.type()), nullable || !column.notNull()));
        }
        return fields;
    }

    /** The place of a column, -1 when the connector knows the columns. */
    private static int columnOf(List<Field> fields, SqlIdentifier name, String role) {
        List<String> names = fields.stream().map(Field::name).toList();
        int column = names.indexOf(name.getSimple());
        if (column < 0 && !fields.isEmpty()) {
            throw Errors.suggest(
                    Errors.error(
                            SqlState.UNDEFINED_COLUMN,
                            "column \"" + name.getSimple() + "\" " + role + "does not exist",
                            name),
                    name.getSimple(),
                    names);
        }
        return column;
    }

    /** The expression is the column itself or the column minus a constant. */
    /** Whether its column is one that the connector adds, of a type that only the connector knows. */
    private static boolean isIncluded(Syntax.WatermarkClause clause, Syntax.CreateRelation create) {
        return create.options().entrySet().stream()
                .anyMatch(option -> option.getKey().startsWith("include.")
                        && option.getValue().equals(clause.column().getSimple()));
    }

    private WatermarkDefinition watermark(Syntax.WatermarkClause clause, List<Field> fields) {
        String name = clause.column().getSimple();
        int column = columnOf(fields, clause.column(), "");
        if (column >= 0 && !fields.get(column).type().isTimestamp()) {
            throw Errors.error(
                    SqlState.DATATYPE_MISMATCH,
                    "a watermark needs a column of type timestamp or timestamptz, but \"" + name + "\" is "
                            + Coercions.name(fields.get(column).type()),
                    clause.column());
        }
        SqlNode expression = clause.expression();
        if (isColumn(expression, name)) {
            return new WatermarkDefinition(name, 0);
        }
        if (expression.getKind() == SqlKind.MINUS && isColumn(((SqlCall) expression).operand(0), name)) {
            SqlNode delay = ((SqlCall) expression).operand(1);
            try {
                Expression value =
                        ExpressionTranslator.translate(constants("WATERMARK").bindAs(delay, DataType.INTERVAL));
                if (value instanceof Literal literal && literal.type().kind() == Kind.INTERVAL) {
                    long micros = Literals.durationMicros((IntervalValue) literal.value());
                    if (micros >= 0) {
                        return new WatermarkDefinition(name, micros);
                    }
                }
            } catch (MillraceException e) {
                throw Errors.at(e, delay);
            }
        }
        throw Errors.error(
                        SqlState.INVALID_TABLE_DEFINITION,
                        "a watermark is the column itself or the column minus a constant interval",
                        expression)
                .withHint("for example: WATERMARK FOR " + name + " AS " + name + " - INTERVAL '5 seconds'");
    }

    private static boolean isColumn(SqlNode node, String name) {
        return node instanceof SqlIdentifier identifier
                && identifier.isSimple()
                && identifier.getSimple().equals(name);
    }

    /** The body of a SQL function is bound once, over its parameters, to say what is wrong with it. */
    private Statement function(Syntax.CreateFunction syntax) {
        List<Field> parameters = fields(syntax.parameters(), true);
        boolean table = syntax.returns().isEmpty();
        DataType returns = table
                ? DataType.row(fields(syntax.table(), true))
                : TypeNames.resolve(syntax.returns().get());
        List<String> definition = syntax.definition();
        if (syntax.language().equals("sql")) {
            String body = definition.get(0).strip().replaceFirst(";\\s*$", "");
            boolean select = body.regionMatches(true, 0, "select", 0, 6);
            String expression = select ? body.substring(6).strip() : body;
            if (table) {
                expression = body;
            } else if (!StatementParser.isExpression(expression)) {
                expression = "(" + body + ")";
            }
            SqlFunctionCheck.check(context, syntax.name(), parameters, returns, expression, table);
            definition = List.of(expression);
        }
        return new Statement.CreateFunction(
                syntax.name(),
                syntax.ifExists(),
                parameters,
                returns,
                table,
                syntax.language(),
                syntax.isVolatile(),
                syntax.isStrict(),
                syntax.options(),
                definition);
    }
}
