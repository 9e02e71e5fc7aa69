package dev.millrace.server.group;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.QueryGroup;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.explain.Fingerprint;
import dev.millrace.planner.group.GroupForm;
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

/**
 * The forms of the queries that there are, and the group of each form that many have. The first {@value #APART} of a form run by themselves: a few cost little so, and show what
 * each of their operators does; from the next on they are members. Those that run by themselves stay so.
 *
 * <p>Of a form is remembered its digest, until there is a group. Safe on any thread; queries are made and dropped with the lock of definitions held.
 */
public final class QueryGroups implements DatabaseCatalog.Listener {
    /** So many queries of a form run by themselves. */
    public static final int APART = 7;

    private static final int MOST_OVER = 1_000; // forms that nobody has, before they are looked for

    /** Queries of one form. */
    private static final class Shape {
        private int apart;
        private Optional<QueryGroup> group = Optional.empty();

        boolean isOver() {
            return apart == 0 && group.filter(there -> !there.isOver()).isEmpty();
        }
    }

    private final DatabaseCatalog catalog;
    private final Engine engine;
    private final String run; // in the names of groups: no other run of the database has such

    @GuardedBy("this") private final Map<String, Shape> shapes = new HashMap<>(); // by digest

    @GuardedBy("this") private final Map<String, Shape> apart = new HashMap<>(); // by query

    @GuardedBy("this") private int sweepAt = MOST_OVER;

    @GuardedBy("this") private long made;

    public QueryGroups(DatabaseCatalog catalog, Engine engine, Clock clock) {
        this.catalog = catalog;
        this.engine = engine;
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
        return group(digest(form, options));
    }

    private synchronized Optional<QueryGroup> group(String digest) {
        return Optional.ofNullable(shapes.get(digest))
                .flatMap(shape -> shape.group)
                .filter(group -> !group.isOver());
    }

    /**
     * Starts a query as a member of the group of a form.
     *
     * @param digest of the form
     * @return empty if there is no such group, or it takes no such member
     */
    public Optional<StandingQuery> join(String name, String digest, List<Literal> literals) {
        return group(digest).flatMap(group -> group.join(name, literals));
    }

    /**
     * Starts a query as a member of a group.
     *
     * @return empty if it is to be started by itself, and will be
     */
    public synchronized Optional<StandingQuery> join(String name, GroupForm form, QueryOptions options) {
        sweep();
        Shape shape = shapes.computeIfAbsent(digest(form, options), digest -> new Shape());
        boolean isMember = shape.apart >= APART
                || shape.group.filter(there -> !there.isOver()).isPresent();
        if (isMember && shape.group.filter(there -> !there.isOver()).isEmpty()) {
            shape.group = Optional.of(engine.group("group " + ++made + " of " + run, form.plan(), options));
        }
        Optional<StandingQuery> joined =
                isMember ? shape.group.orElseThrow().join(name, form.literals()) : Optional.empty();
        if (joined.isEmpty()) {
            shape.apart++;
            apart.put(name, shape);
        }
        return joined;
    }

    @GuardedBy("this") private void sweep() {
        if (shapes.size() >= sweepAt) {
            shapes.values().removeIf(Shape::isOver);
            sweepAt = Math.max(MOST_OVER, 2 * shapes.size());
        }
    }

    static String digest(GroupForm form, QueryOptions options) {
        try {
            String types = Fingerprint.of(form.plan().shared()).hash();
            byte[] text = (types + form.plan() + options).getBytes(StandardCharsets.UTF_8);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    @Override
    public void defined(CatalogObject object) {}

    @Override
    public synchronized void removed(String name) {
        Optional.ofNullable(apart.remove(name)).ifPresent(shape -> shape.apart--);
    }
}
