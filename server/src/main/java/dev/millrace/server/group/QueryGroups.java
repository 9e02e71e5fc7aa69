package dev.millrace.server.group;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.QueryGroup;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.GroupPlan;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.explain.Fingerprint;
import dev.millrace.planner.group.GroupForm;
import dev.millrace.planner.tree.ScanNames;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.planning.UserCalls;
import dev.millrace.time.Clock;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * The forms of the queries that there are, and the group of each form that many have. The first {@value #APART} of a form run by themselves: a few cost little so, and show what
 * each of their operators does; from the next on they are members. Those that run by themselves stay so.
 *
 * <p>Of a form is remembered its digest, until there is a group. Queries of the catalog are made and dropped with the lock of definitions held; one that is in no catalog, as a
 * subscription's own is not, is the caller's to {@link #forget}. Safe on any thread.
 */
public final class QueryGroups implements DatabaseCatalog.Listener {
    /** So many queries of a form run by themselves. */
    public static final int APART = 7;

    private static final int MOST_OVER = 1_000; // forms that nobody has, before they are looked for

    /** Queries of one form. */
    private static final class Shape {
        private int apart;
        private Optional<QueryGroup> group = Optional.empty();
        private Optional<QueryOptions> options = Optional.empty(); // of the group

        boolean isOver() {
            return apart == 0 && there().isEmpty();
        }

        Optional<QueryGroup> there() {
            return group.filter(begun -> !begun.isOver());
        }
    }

    private final DatabaseCatalog catalog;
    private final Engine engine;
    private final ToLongFunction<String> numbers;
    private final int mostApart;
    private final String run; // in the names of groups: no other run of the database has such

    @GuardedBy("this") private final Map<String, Shape> shapes = new HashMap<>(); // by digest

    @GuardedBy("this") private final Map<String, Shape> apart = new HashMap<>(); // by query

    @GuardedBy("this") private int sweepAt = MOST_OVER;

    @GuardedBy("this") private long made;

    /**
     * @param numbers of relations, which stay where they have other names; 0 where that is not to be found again
     * @param mostApart of a form
     */
    public QueryGroups(
            DatabaseCatalog catalog, Engine engine, ToLongFunction<String> numbers, int mostApart, Clock clock) {
        this.mostApart = mostApart;
        this.catalog = catalog;
        this.engine = engine;
        this.numbers = numbers;
        this.run = Long.toString(clock.epochMicros(), Character.MAX_RADIX);
    }

    /** What a query can share, if it reads a stream that shows each row once, and computes what is the same for whoever computes it. */
    public Optional<GroupForm> form(PlanNode plan) {
        return UserCalls.isIn(plan) || !readsLive(plan) ? Optional.empty() : GroupForm.of(plan);
    }

    private boolean readsLive(PlanNode plan) {
        return Subplans.of(plan).stream()
                .filter(Scan.class::isInstance)
                .allMatch(scan -> catalog.object(((Scan) scan).relation())
                        .flatMap(CatalogObject::input)
                        .filter(input -> !input.replayable() && !input.isDerived())
                        .isPresent());
    }

    /** The group that a query of this form would be a member of. */
    public Optional<QueryGroup> group(GroupForm form, QueryOptions options) {
        return group(digest(form, options), options);
    }

    private synchronized Optional<QueryGroup> group(String digest, QueryOptions options) {
        return Optional.ofNullable(shapes.get(digest))
                .filter(shape -> shape.options.filter(options::equals).isPresent())
                .flatMap(Shape::there);
    }

    /** Whether a checkpoint that the engine is being opened from has a query of this form and name as a member, whatever options it has now. */
    public boolean goesOn(String name, GroupForm form, QueryOptions options) {
        return isKept(form, options) && engine.goesOn(name(digest(form, options))) && !engine.goesOn(name);
    }

    /**
     * Starts a query as a member of the group of a form.
     *
     * @param digest of the form
     * @return empty if there is no such group, or it takes no such member
     */
    public Optional<StandingQuery> join(String name, String digest, QueryOptions options, List<Literal> literals) {
        return group(digest, options).flatMap(group -> group.join(name, literals));
    }

    /**
     * Starts a query as a member of a group.
     *
     * @return empty if it is to be started by itself, and will be
     */
    public Optional<StandingQuery> join(String name, GroupForm form, QueryOptions options) {
        return joined(name, form, options, group -> group.join(name, form.literals()));
    }

    /** The same of a query for one subscriber, who hears it from its first row on. */
    public Optional<QueryGroup.Subscribed> subscribe(
            String name, GroupForm form, QueryOptions options, SubscriptionOptions subscriber) {
        return joined(name, form, options, group -> group.subscribe(name, form.literals(), subscriber));
    }

    private <T> Optional<T> joined(
            String name, GroupForm form, QueryOptions options, Function<QueryGroup, Optional<T>> how) {
        String digest = digest(form, options);
        Optional<T> joined = group(digest, options).flatMap(how);
        return joined.isPresent() ? joined : begin(name, digest, form, options, how);
    }

    private synchronized <T> Optional<T> begin(
            String name, String digest, GroupForm form, QueryOptions options, Function<QueryGroup, Optional<T>> how) {
        sweep();
        Shape shape = shapes.computeIfAbsent(digest, first -> new Shape());
        if (shape.there().isEmpty()) {
            made(shape, digest, form, options).ifPresent(group -> {
                shape.group = Optional.of(group);
                shape.options = Optional.of(options);
            });
        }
        Optional<T> joined = shape.there()
                .filter(group -> shape.options.equals(Optional.of(options)))
                .flatMap(how);
        if (joined.isEmpty()) {
            shape.apart++;
            apart.put(name, shape);
        }
        return joined;
    }

    /** A group of many of a form; of those that keep something there is one at a time, by whose name a checkpoint knows it. */
    @GuardedBy("this") private Optional<QueryGroup> made(Shape shape, String digest, GroupForm form, QueryOptions options) {
        boolean isKept = isKept(form, options);
        String name = isKept ? name(digest) : "group " + ++made + " of " + run;
        boolean isThere =
                isKept && shape.group.filter(over -> over.members() > 0).isPresent();
        boolean isWanted = shape.apart >= mostApart || isKept && engine.goesOn(name);
        return isWanted && !isThere ? Optional.of(engine.group(name, form.plan(), options)) : Optional.empty();
    }

    @GuardedBy("this") private void sweep() {
        if (shapes.size() >= sweepAt) {
            shapes.values().removeIf(Shape::isOver);
            sweepAt = Math.max(MOST_OVER, 2 * shapes.size());
        }
    }

    /** Whether a checkpoint has what members keep, by the name of their group. */
    private static boolean isKept(GroupForm form, QueryOptions options) {
        return form.plan().keepsState() || options.materialized();
    }

    private static String name(String digest) {
        return "group " + digest;
    }

    /**
     * By which queries are of one group. Of what is kept it is the same whenever the database is opened: timeouts, which a session sets, are not in it, and views stay in their
     * group when their stream has another name, as that is in it by its number.
     */
    String digest(GroupForm form, QueryOptions options) {
        QueryOptions counted = isKept(form, options)
                ? options.withMostRowNanos(QueryOptions.MOST_ROW_NANOS).withMostSinkNanos(QueryOptions.MOST_SINK_NANOS)
                : options;
        GroupPlan plan = options.materialized() ? numbered(form.plan()) : form.plan();
        try {
            String types = Fingerprint.of(plan.shared()).hash();
            byte[] text = (types + plan + counted).getBytes(StandardCharsets.UTF_8);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    private GroupPlan numbered(GroupPlan plan) {
        Map<String, String> numbered = new HashMap<>();
        for (PlanNode node : Subplans.of(plan.shared().input())) {
            long number = node instanceof Scan scan ? numbers.applyAsLong(scan.relation()) : 0;
            if (number != 0) {
                numbered.put(((Scan) node).relation(), "#" + number);
            }
        }
        return plan.reading(ScanNames.renamed(plan.shared().input(), numbered));
    }

    @Override
    public void defined(CatalogObject object) {}

    @Override
    public void removed(String name) {
        forget(name);
    }

    /** A query is gone, or could not be started; of no effect for one that is not known. */
    public synchronized void forget(String name) {
        Optional.ofNullable(apart.remove(name)).ifPresent(shape -> shape.apart--);
    }
}
