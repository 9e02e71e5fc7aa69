package dev.millrace.server.group;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.group.OpenForm;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.planning.PlanBasis;
import dev.millrace.server.planning.Plans;
import dev.millrace.server.planning.StatementKinds;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.LiftedQuery;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import dev.millrace.type.PlainNumeric;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Texts of queries that became members of groups, for those that differ from one of them in names and constants only: these are neither parsed nor
 * analysed nor planned, when they
 * are made and when the database is opened again.
 *
 * <pre>
 *   text -> its tokens: a shape and constants -> the form of that shape (KnownForm) -> literals (KnownQuery)
 * </pre>
 *
 * A shape is known when two queries of it became members, and a plan without values says that nothing but literals depends on its constants ({@link
 * OpenForm}). Constants of other types
 * are another shape. What else a definition means depends on the stream, which has to be the very object that it was, on users' functions, which make
 * all be forgotten, and on nothing of
 * a session: definitions are bound in UTC, and one that asks who is asking is not known. Safe on any thread.
 */
public final class KnownForms implements DatabaseCatalog.Listener {
    private static final String LIMITED = "\0"; // before texts in which NUMERIC without digits is limited

    private static final int MOST = 500; // some tens of kilobytes each

    private final Frontend frontend;
    private final DatabaseCatalog catalog;
    private final Plans plans;
    private final Function<String, Optional<StandingQuery>> standing;
    private final QueryGroups groups;
    private final Cache<String, Optional<KnownForm>> forms = // by shape and types; empty for one of no use
            CacheBuilder.newBuilder().maximumSize(MOST).build();
    private final Cache<String, Boolean> seen = // shapes of which there was one
            CacheBuilder.newBuilder().maximumSize(2 * MOST).build();

    /** @param standing the query of a name */
    public KnownForms(
            Frontend frontend,
            DatabaseCatalog catalog,
            Plans plans,
            Function<String, Optional<StandingQuery>> standing,
            QueryGroups groups) {
        this.groups = groups;
        this.frontend = frontend;
        this.catalog = catalog;
        this.plans = plans;
        this.standing = standing;
    }

    /** The query of a text, if its form is known. In some microseconds. */
    public Optional<KnownQuery> find(String sql) {
        return forms.size() == 0 ? Optional.empty() : LiftedQuery.of(sql).flatMap(this::find);
    }

    /** The same of a text whose constants are lifted. */
    public Optional<KnownQuery> find(LiftedQuery lifted) {
        return current(key(lifted))
                .flatMap(form -> form.open()
                        .literals(constants(lifted))
                        .map(literals -> new KnownQuery(form, lifted.name(), lifted.text(), literals)));
    }

    private Optional<KnownForm> current(String key) {
        return Optional.ofNullable(forms.getIfPresent(key))
                .flatMap(known -> known)
                .filter(form -> form.isCurrent(catalog));
    }

    private static String key(LiftedQuery lifted) {
        StringBuilder key = new StringBuilder(PlainNumeric.isUnlimited() ? "" : LIMITED);
        key.append(lifted.kind()).append('\0').append(lifted.query().shape());
        lifted.query()
                .parameters()
                .declaredTypes()
                .forEach(type -> key.append('\0').append(type));
        return key.toString();
    }

    private static List<Literal> constants(LiftedQuery lifted) {
        Parameters parameters = lifted.query().parameters();
        List<Literal> constants = new ArrayList<>();
        for (int i = 0; i < parameters.declaredTypes().size(); i++) {
            DataType type = parameters.declaredTypes().get(i);
            String text = parameters.values().orElseThrow().get(i).orElseThrow();
            constants.add(
                    switch (type.kind()) {
                        case INTEGER, BIGINT -> new Literal(Long.parseLong(text), type);
                        case NUMERIC -> new Literal(new BigDecimal(text), type);
                        default -> new Literal(text, DataType.TEXT);
                    });
        }
        return constants;
    }

    /**
     * A query was made of a text, in the way of all: texts like it are known from now on, if it became a member, as another did before, and they can be.
     *
     * @param names as the session knows them that made it, without temporary relations
     * @param how it runs
     */
    public void learn(LiftedQuery lifted, Statement statement, Syntax syntax, Catalog names, QueryOptions how) {
        String key = key(lifted);
        Optional<KnownForm> known = forms.getIfPresent(key);
        boolean isLearnt =
                known != null && known.filter(form -> !form.isCurrent(catalog)).isEmpty();
        Optional<StandingQuery> made =
                standing.apply(lifted.name()).filter(query -> query.group().isPresent());
        if (!isLearnt && made.isPresent() && seen.asMap().putIfAbsent(key, true) != null) {
            try (Interrupt.Binding whole = Interrupt.shield()) { // the statement is done
                forms.put(key, form(lifted, made.get(), statement, syntax, names, how));
            }
        }
    }

    private Optional<KnownForm> form(
            LiftedQuery lifted,
            StandingQuery made,
            Statement statement,
            Syntax syntax,
            Catalog names,
            QueryOptions how) {
        Set<String> reads = StatementKinds.query(statement).orElseThrow().dependsOn();
        Optional<CatalogObject> stream =
                reads.size() == 1 ? catalog.object(reads.iterator().next()) : Optional.empty();
        Optional<CatalogObject> example = catalog.object(lifted.name());
        List<DataType> types = lifted.query().parameters().declaredTypes();
        ParsedStatement parsed = frontend.parse("CREATE " + lifted.kind().sqlName() + " q AS "
                        + lifted.query().shape())
                .get(0);
        if (stream.isEmpty() || example.isEmpty() || parsed.parameterCount() != types.size()) {
            return Optional.empty();
        }
        PlanBasis basis = PlanBasis.first();
        Optional<PlanNode> open = plans.open(parsed, names, types, basis);
        return open.flatMap(plan -> OpenForm.of(made.plan(), plan, constants(lifted)))
                .map(form -> new KnownForm(
                        form,
                        groups.digest(form.form(), how),
                        how,
                        stream.get(),
                        PlanBasis.again(basis.told()),
                        example.get(),
                        statement,
                        syntax));
    }

    @Override
    public void defined(CatalogObject object) {
        boolean mayBeMeant = switch (object.kind()) {
            case STREAM, TABLE, VIEW, FUNCTION -> true;
            case CONTINUOUS_QUERY, MATERIALIZED_VIEW, SINK, QUERY_TEMPLATE, INDEX, SCHEMA -> false;
        };
        if (mayBeMeant) {
            forms.invalidateAll();
        }
    }

    @Override
    public void removed(String name) {}
}
