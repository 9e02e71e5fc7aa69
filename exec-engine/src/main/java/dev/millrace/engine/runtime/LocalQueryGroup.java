package dev.millrace.engine.runtime;

import dev.millrace.engine.alteration.Rescaling;
import dev.millrace.engine.epoch.EpochDomain;
import dev.millrace.engine.epoch.Quiescence;
import dev.millrace.engine.group.Audience;
import dev.millrace.engine.group.GroupMembers;
import dev.millrace.engine.group.Member;
import dev.millrace.engine.group.MemberChanges;
import dev.millrace.engine.group.MemberViews;
import dev.millrace.engine.group.MembersOperator;
import dev.millrace.engine.group.StateParts;
import dev.millrace.engine.relation.RelationRegistry;
import dev.millrace.engine.relation.Scannable;
import dev.millrace.engine.runtime.QueryTasks.PlacedStage;
import dev.millrace.engine.statistic.QueryLife;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.engine.subscription.LocalSubscription;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.engine.task.OperatorStage;
import dev.millrace.engine.task.Resources;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.operator.Operator;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.GroupPlan;
import dev.millrace.plan.node.PlanNode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * A group's query, and who comes to it and leaves it. Members change with the lock of changes held:
 *
 * <pre>
 *   join    between two epochs: all rows of the one are behind the operator's back, none of the next
 *   leave   at rest: the member's own query is attached, its subscribers go over, the operator is told
 *   drop    at once: what the operator still finds for it is nobody's
 * </pre>
 */
final class LocalQueryGroup implements QueryGroup {
    private final LocalEngine engine;
    private final Resources resources;
    private final RelationRegistry relations;
    private final Quiescence quiescence;
    private final ReentrantLock changes;
    private volatile GroupPlan
            plan; // replaced with the lock of changes held, where what it reads has another name; read by all
    private final QueryOptions options;
    private final GroupMembers members;

    // Set once, before anybody has the group.
    @SuppressWarnings("NullAway.Init")
    private LocalStandingQuery query;

    @SuppressWarnings("NullAway.Init")
    private MemberChanges told;

    @SuppressWarnings("NullAway.Init")
    private MembersOperator operator;

    private Optional<MemberViews> views = Optional.empty(); // likewise
    private Optional<MillraceException> hadFailed = Optional.empty(); // likewise: as a checkpoint has it

    /** @param changes held by who starts and changes queries */
    LocalQueryGroup(
            LocalEngine engine,
            Resources resources,
            RelationRegistry relations,
            Quiescence quiescence,
            ReentrantLock changes,
            GroupPlan plan,
            QueryOptions options) {
        this.engine = engine;
        this.resources = resources;
        this.relations = relations;
        this.quiescence = quiescence;
        this.changes = changes;
        this.plan = plan;
        this.options = options;
        this.members = new GroupMembers(options.materialized());
    }

    /** Whether a checkpoint has what its members keep, by the name of the group. */
    static boolean isKept(GroupPlan plan, QueryOptions options) {
        return plan.keepsState() || options.materialized();
    }

    /** The operators of its query, where others are made as usual. */
    Function<PlanNode, Operator> operators(Function<PlanNode, Operator> others) {
        return node -> {
            if (!node.equals(plan.running())) {
                return others.apply(node);
            }
            operator = new MembersOperator(plan, members, others, engine.heap()); // a live stream is read by one task
            return operator;
        };
    }

    /** Its query is made, and has no tasks yet. */
    void begin(LocalStandingQuery made) {
        query = made;
        told = new MemberChanges(
                members, plan.answer(), () -> made.tasks().memory().newChildForSpare("members"), this::stopped);
        if (options.materialized()) {
            views = Optional.of(new MemberViews(
                    members,
                    plan.answer(),
                    resources.batchRows(),
                    () -> made.tasks().memory().newChild("views"),
                    () -> made.output().epochs().version(),
                    engine.heap()));
        }
        made.output().tellMembers(told, views);
    }

    /** A member whose rows failed leaves, with what is known of them: its failures are in checkpoints then, and wait for who resumes it. */
    private void stopped(Member member, MillraceException why) {
        QueryLife.log(member.name(), why);
        resources
                .workers()
                .schedule(
                        resources.clock().nanoTime(),
                        () -> resources.sinkThreads().execute(() -> engine.haveLeft(member)));
    }

    /** Has its query join the epochs of what it reads. */
    void attach(LocalStandingQuery made) {
        between(closed -> {
            made.attach(feed().domain().get());
            members.beginAfter(closed);
        });
    }

    /** Runs an action between two epochs of what is read, with the number of the earlier. */
    private void between(Consumer<Long> action) {
        Scannable.Feed feed = feed();
        long[] closed = new long[1];
        quiescence.between(
                feed.domain().get(),
                epoch -> {
                    closed[0] = epoch;
                    return feed.fanout().hasEnded(epoch);
                },
                () -> action.accept(closed[0]));
    }

    private Scannable.Feed feed() {
        return (Scannable.Feed) relations.scannable(relation());
    }

    private String relation() {
        return LocalEngine.scans(plan.shared()).iterator().next().relation();
    }

    LocalStandingQuery query() {
        return query;
    }

    QueryOptions options() {
        return options;
    }

    @Override
    public GroupPlan plan() {
        return plan;
    }

    @Override
    public int members() {
        return members.count();
    }

    @Override
    public boolean isOver() {
        return query.state() != QueryState.RUNNING;
    }

    @Override
    public QueryStatistics statistics() {
        return query.statistics();
    }

    @Override
    public Optional<StandingQuery> join(String name, List<Literal> literals) {
        return joined(name, literals, member -> {}).map(member -> member);
    }

    @Override
    public Optional<Subscribed> subscribe(String name, List<Literal> literals, SubscriptionOptions subscriber) {
        Subscription[] made = new Subscription[1];
        return joined(name, literals, member -> made[0] = member.listen(subscriber))
                .map(member -> new Subscribed(member, made[0]));
    }

    /** @param first done with the member before a row is its own */
    private Optional<MemberQuery> joined(String name, List<Literal> literals, Consumer<MemberQuery> first) {
        Interrupt.lock(changes);
        try {
            boolean goesOn = engine.goesOn(query.name());
            if (isOver() || engine.goesOn(name) || query.isRestored() && !goesOn) {
                return Optional.empty(); // rows of before it would wait with its own until all have their state
            }
            engine.requireFree(name);
            Optional<String> then = goesOn ? Optional.of(engine.checkpoints().nameThen(name)) : Optional.empty();
            MemberQuery[] joined = new MemberQuery[1];
            between(closed -> {
                joined[0] = new MemberQuery(
                        this,
                        members.add(name, literals, goesOn ? Long.MIN_VALUE : closed, then),
                        engine,
                        closed,
                        resources.epochs().journal().appended());
                first.accept(joined[0]);
            });
            try {
                then.ifPresent(was -> restore(joined[0].member(), was));
            } catch (RuntimeException | Error e) {
                forget(joined[0].member());
                throw e;
            }
            if (plan.keepsState()) {
                joined[0].beginsIn(query.touchEpoch());
            }
            engine.add(joined[0]);
            return Optional.of(joined[0]);
        } catch (RuntimeException | Error e) {
            endIfLeft(); // one that was made for it stays for nobody
            throw e;
        } finally {
            changes.unlock();
        }
    }

    /** A checkpoint has it as one that had failed: members that are views have failed with it. Before there are any. */
    void hadFailed(MillraceException why) {
        hadFailed = Optional.of(why);
    }

    /** Has a member's answer be what a checkpoint has of it. @param was its name then */
    private void restore(Member member, String was) {
        if (views.isPresent() && hadFailed.isPresent()) {
            member.fails(hadFailed.get());
        } else if (views.isPresent()) {
            engine.checkpoints()
                    .restoreMember(
                            query, member, was, () -> views.get().of(member).orElseThrow());
        }
    }

    /** Nothing is there of a member that nobody has. */
    private void forget(Member member) {
        members.remove(member);
        views.ifPresent(all -> query.exclusively(() -> all.remove(member)));
    }

    /** Has a member run by itself from now on. With the lock of changes held. */
    LocalStandingQuery leave(MemberQuery member) {
        LocalStandingQuery own = engine.inPlaceOf(member, () -> {
            engine.haveGoneOn(query); // what it has of the member goes over
            return query.lifeState() == QueryState.RUNNING
                    ? engine.startBeside(
                            member.name(),
                            member.plan(),
                            ownOptions(member.plan()),
                            made -> engine.atRest(Set.of(query.domain()), domain -> goOver(member, made, domain)))
                    : (LocalStandingQuery) engine.start(member.name(), member.plan(), options);
        });
        member.member().failure().ifPresent(own::failed);
        member.becomes(own);
        forget(member.member());
        endIfLeft();
        return own;
    }

    /** Of its members. */
    List<String> names() {
        return members.all().stream().map(Member::name).toList();
    }

    /** State that does not follow its keys stays in one task. */
    private QueryOptions ownOptions(PlanNode ofMember) {
        return Rescaling.isExact(ofMember)
                ? options
                : options.withRestore(new QuerySnapshot(0, 1, false, Map.of(), List.of()));
    }

    private void goOver(MemberQuery leaving, LocalStandingQuery own, EpochDomain domain) {
        Member member = leaving.member();
        if (plan.keepsState() && member.failure().isEmpty()) {
            giveState(member, own);
        }
        views.ifPresent(all -> all.copy(
                member, own.output().view().orElseThrow(), own.tasks().memory().own()));
        own.attach(domain);
        member.failedRows().ifPresent(own::goOnWith);
        if (member.failure().isEmpty()) { // else it is shown when it has failed, too
            leaving.becomes(own);
        }
        members.remove(member);
        views.ifPresent(all -> all.remove(member));
        QueryOutput output = own.output();
        output.goOnAfter(query.output().publishedEpoch(), query.output().publishedMicros());
        told.remove(member).ifPresent(audience -> {
            try (audience) {
                audience.history().copyTo(output.history());
                for (LocalSubscription subscription : audience.release()) {
                    subscription.moveTo(own.tasks()::wakeAll, () -> output.remove(subscription));
                    output.add(subscription);
                }
            }
        });
    }

    /**
     * Has a member's own query, not yet begun, go on with the state that the member has here, and with the time that the stream is at: it has the operators that read
     * the stream, then the filter, then those of the member. While at rest.
     */
    private void giveState(Member member, LocalStandingQuery own) {
        List<Optional<StateParts>> states = new ArrayList<>();
        query.tasks().tasks.get(0).whileStill(() -> {
            for (PlacedStage placed : query.tasks().stages) {
                if (placed.stage() instanceof OperatorStage stage && stage.operator() != operator) {
                    states.add(Optional.of(StateParts.of(stage.operator())));
                }
            }
            states.add(Optional.empty()); // the filter keeps nothing
            operator.states(member).ifPresent(above -> above.forEach(state -> states.add(Optional.of(state))));
        });
        Map<Integer, List<OperatorStage>> stages = new TreeMap<>(); // of each node, who is read before who reads
        for (PlacedStage placed : own.tasks().stages) {
            if (placed.stage() instanceof OperatorStage stage) {
                stages.computeIfAbsent(placed.node().id(), first -> new ArrayList<>())
                        .add(stage);
            }
        }
        Iterator<List<OperatorStage>> instances = stages.values().iterator();
        for (Optional<StateParts> state : states) {
            List<OperatorStage> all = instances.next();
            state.ifPresent(parts -> all.forEach(stage ->
                    stage.operator().restore(all.size() == 1 ? parts : parts.of(stage.keyGroups()::contains))));
        }
    }

    /** Takes a member out, with all that is kept for it. */
    void drop(MemberQuery member) {
        changes.lock(); // not to be stopped: what was dropped must not stay
        try {
            engine.remove(member);
            members.remove(member.member());
            query.exclusively(() -> {
                told.remove(member.member()).ifPresent(audience -> {
                    audience.end(Optional.empty());
                    audience.close();
                });
                views.ifPresent(all -> all.remove(member.member()));
            });
            endIfLeft();
        } finally {
            changes.unlock();
        }
    }

    private void endIfLeft() {
        if (members.count() == 0) {
            query.drop();
        }
    }

    /** Those who listen to a member, from now on. While the group's epochs are at rest. */
    Audience audience(Member member) {
        return told.audience(member);
    }

    /** Whether members have answers that can be read. */
    boolean areViews() {
        return views.isPresent();
    }

    /** What reads the answer of a member; empty if it has left, or is gone, or has none. */
    Optional<Scannable.Feed> feed(Member member) {
        return views.flatMap(all -> all.of(member))
                .map(rows -> new Scannable.Feed(
                        plan.answer(),
                        query.output().fanout(),
                        query::domain,
                        Optional.of(query.output().epochs()),
                        Optional.of(rows),
                        query.tasks()::wakeAll,
                        member.failures()));
    }

    /** Bytes of what is there for all members together. */
    long commonBytes(long allBytes) {
        return allBytes - views.map(MemberViews::bytes).orElse(0L);
    }

    /** What it reads has other names from now on. With the lock of changes held, while no checkpoint is made. @param named a plan by these */
    void renameRead(UnaryOperator<PlanNode> named) {
        plan = plan.reading(named.apply(plan.shared().input()));
    }
}
