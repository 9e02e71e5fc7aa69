package dev.millrace.sql.bind.scope;

import dev.millrace.connector.query.FileRelation;
import dev.millrace.error.MillraceException;
import dev.millrace.sql.algebra.LogicalPlanner;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.function.FunctionResolver;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.ParameterTypes;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.statement.Recursion;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;

/** What all parts of one statement's binding share. */
public final class QueryContext {
    /** Binds queries that stand in expressions, which knows how to bind whole queries. */
    @FunctionalInterface
    public interface WithinExpressions {
        /** @param around what names may mean that the query itself does not know */
        BoundQuery bind(QueryContext context, SqlNode query, Scope around);
    }

    private final String source;
    private final Catalog catalog;
    private final ParameterTypes parameters;
    private final WithinExpressions queries;
    private final Coercions coercions;
    private final FunctionResolver functions;
    private Optional<RelOptCluster> cluster = Optional.empty(); // it is dear to make, and rows of constants need none
    private final Set<String> relations = new LinkedHashSet<>();
    private final Map<String, FileRelation> files = new HashMap<>();
    private final Map<String, Optional<Relation>> changed;
    private final Map<SqlIdentifier, String> references;
    private Optional<From> atHand = Optional.empty();
    private final Set<String> named = new LinkedHashSet<>();
    private int viewsAround;
    private boolean hasLookups;
    private boolean tryingOut;
    private final Map<SqlNode, Long> numbers = new IdentityHashMap<>();
    private boolean hasSubQueries;
    private Optional<List<Recursion>> recursions = Optional.empty(); // none where there may be no recursion

    public QueryContext(String source, Catalog catalog, ParameterTypes parameters, WithinExpressions queries) {
        this(source, catalog, parameters, queries, new HashMap<>(), new IdentityHashMap<>());
    }

    private QueryContext(
            String source,
            Catalog catalog,
            ParameterTypes parameters,
            WithinExpressions queries,
            Map<String, Optional<Relation>> changed,
            Map<SqlIdentifier, String> references) {
        this.references = references;
        this.queries = queries;
        this.changed = changed;
        this.source = source;
        this.catalog = catalog;
        this.parameters = parameters;
        this.coercions = new Coercions(parameters);
        this.functions = new FunctionResolver(coercions);
    }

    /** For another query of the same statement. */
    public QueryContext beside() {
        return new QueryContext(source, catalog, parameters, queries, changed, references);
    }

    /** A change in WITH, and the rows that it returns, if any; known to all queries of the statement. */
    public void putChanged(String name, Optional<Relation> rows) {
        changed.put(name, rows);
    }

    /** Whether a name is that of a change in WITH which returns nothing. */
    public boolean isChangeWithoutRows(String name) {
        return changed.containsKey(name) && changed.get(name).isEmpty();
    }

    /** The rows that a change in WITH returns, by the name of the relation. */
    public Optional<Relation> changedRows(String relation) {
        return changed.values().stream()
                .flatMap(Optional::stream)
                .filter(rows -> rows.name().equals(relation))
                .findFirst();
    }

    /** The query is computed once, and may read what is computed from itself. */
    public void allowRecursion() {
        recursions = recursions.or(() -> Optional.of(new ArrayList<>()));
    }

    public boolean allowsRecursion() {
        return recursions.isPresent();
    }

    /** A relation under which the rows of a recursion are read. */
    public Relation recursionRows(String name, Schema schema) {
        String rows = Relation.ROWS_OF + name + " " + (changed.size() + 1);
        Relation relation = new Relation(rows, Relation.Kind.SYSTEM_VIEW, schema, false, List.of(), Optional.empty());
        changed.put(rows, Optional.of(relation));
        return relation;
    }

    public void recursion(Recursion recursion) {
        recursions.orElseThrow().add(recursion);
    }

    /** What was found of recursions so far, each before those that read it. */
    public List<Recursion> recursions() {
        return recursions.orElse(List.of());
    }

    /** What the name {@link Relation#AT_HAND} means. */
    public void putAtHand(From rows) {
        atHand = Optional.of(rows);
    }

    public Optional<From> atHand() {
        return atHand;
    }

    /** Binds a query that stands in an expression over the columns of a scope. */
    public BoundQuery bindWithin(SqlNode query, Scope around) {
        return queries.bind(this, query, around);
    }

    /** The text that positions count in. */
    public String source() {
        return source;
    }

    /** Of what the statement names itself; within a view, as the view's text sees it. */
    public Catalog catalog() {
        return viewsAround > 0 ? catalog.ofDefinitions() : catalog;
    }

    /** The statement's text, or that of a view in it, means something of the catalog by a name. */
    public void refersTo(SqlIdentifier written, String name) {
        if (viewsAround == 0) {
            references.put(written, name);
        }
    }

    /** What the names in the statement mean, by their places in its text, and in other texts that are put into it. */
    public Map<SqlIdentifier, String> references() {
        return references;
    }

    public ParameterTypes parameters() {
        return parameters;
    }

    public Coercions coercions() {
        return coercions;
    }

    public FunctionResolver functions() {
        return functions;
    }

    public RelOptCluster cluster() {
        cluster = cluster.or(() -> Optional.of(RelOptCluster.create(new LogicalPlanner(), Rex.builder())));
        return cluster.get();
    }

    public void reads(Relation relation) {
        relations.add(relation.name());
        names(relation);
    }

    /** Files that the query's text names. */
    public void reads(FileRelation found) {
        relations.add(found.name());
        files.put(found.name(), found);
    }

    /** The files read, by the names of their relations. */
    public Map<String, FileRelation> files() {
        return files;
    }

    /** Whose columns the statement goes by, though it may read no row of it. */
    public void names(Relation relation) {
        if (viewsAround == 0) {
            named.add(relation.name());
        }
    }

    /** A user's view is about to be expanded. */
    public void enterView(String name) {
        if (viewsAround == 0) {
            named.add(name);
        }
        viewsAround++;
        parameters.enterView();
    }

    public void leaveView() {
        viewsAround--;
        parameters.leaveView();
    }

    /** What the statement itself names of relations and users' views. */
    public Set<String> named() {
        return named;
    }

    /** The names of the relations read. */
    public Set<String> relations() {
        return relations;
    }

    /** A number for a part of the text, the same each time that it is asked for. */
    public long numberOf(SqlNode part) {
        return numbers.computeIfAbsent(part, any -> (long) numbers.size() + 1);
    }

    /**
     * Binds something only to see what it reads. Not within another such attempt: what is nested deeply would be bound over
     * and over.
     *
     * @return whether it could be bound
     */
    public boolean tryOut(Runnable binding) {
        if (tryingOut) {
            return false;
        }
        tryingOut = true;
        try {
            binding.run();
            return true;
        } catch (MillraceException e) {
            return false;
        } finally {
            tryingOut = false;
        }
    }

    public void foundSubQuery() {
        hasSubQueries = true;
    }

    public void foundLookup() {
        hasLookups = true;
    }

    /** Whether some join finds what a table holds when a row comes. */
    public boolean hasLookups() {
        return hasLookups;
    }

    public boolean hasSubQueries() {
        return hasSubQueries;
    }
}
