package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.group.Audience;
import dev.millrace.engine.group.Member;
import dev.millrace.engine.intake.Schedule;
import dev.millrace.engine.relation.Scannable;
import dev.millrace.engine.statistic.LateRow;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.engine.statistic.SubscriberStatistics;
import dev.millrace.engine.subscription.LocalSubscription;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;

/**
 * A member of a group, as a standing query: until it leaves, and then it is what it became. It holds a row's worth of what it is; its plan is made when
 * somebody asks.
 */
final class MemberQuery implements StandingQuery {
    private final LocalQueryGroup group;
    private final Member member;
    private final LocalEngine engine;
    private final long since;
    private final long lateBefore; // rows of the group
    private volatile long firstEpoch; // written by who makes it
    private volatile Optional<LocalStandingQuery> own = Optional.empty(); // set with the lock of changes held
    private volatile boolean dropped; // written by who drops it, read by all
    private volatile boolean begun; // written by whoever finds out, read by all

    MemberQuery(LocalQueryGroup group, Member member, LocalEngine engine, long firstEpoch, long since) {
        this.group = group;
        this.member = member;
        this.engine = engine;
        this.firstEpoch = firstEpoch;
        this.since = since;
        this.lateBefore = group.query().tasks().late().count();
    }

    /** What it makes first is seen with this epoch. By who makes it. */
    void beginsIn(long epoch) {
        firstEpoch = epoch;
    }

    Member member() {
        return member;
    }

    /** The query that it is by itself, from now on. */
    LocalStandingQuery own() {
        if (own.isEmpty()) {
            engine.changing(() -> {
                if (own.isEmpty()) {
                    requireThere();
                    own = Optional.of(group.leave(this));
                }
            });
        }
        return own.orElseThrow();
    }

    /** It runs by itself from now on: who looks for it finds that. */
    void becomes(LocalStandingQuery query) {
        own = Optional.of(query);
    }

    /** What reads its answer, which who has left has for itself; empty if there is none. */
    Optional<Scannable.Feed> feed() {
        if (own.isEmpty()) {
            Optional<Scannable.Feed> ofMember = group.feed(member);
            if (ofMember.isPresent() || own.isEmpty()) {
                return ofMember;
            }
        }
        return own.map(LocalStandingQuery::feed);
    }

    boolean isView() {
        return group.areViews();
    }

    /** Whether its answer is that of a whole epoch, or none will come; any thread. */
    boolean hasBegun() {
        if (!begun) {
            begun = own.map(LocalStandingQuery::hasBegun)
                    .orElseGet(() -> member.goesOnWith().isPresent()
                            || !group.plan().keepsState()
                            || group.query().hasPublished(firstEpoch));
        }
        return begun;
    }

    private void requireThere() {
        if (dropped) {
            throw MillraceException.user(
                    SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "query \"" + member.name() + "\" is " + QueryState.DROPPED);
        }
    }

    @Override
    public Optional<QueryGroup> group() {
        return own.isEmpty() && !dropped ? Optional.of(group) : Optional.empty();
    }

    @Override
    public String name() {
        return own.map(LocalStandingQuery::name).orElse(member.name());
    }

    @Override
    public PlanNode plan() {
        return own.map(LocalStandingQuery::plan).orElseGet(() -> group.plan().plan(member.literals()));
    }

    @Override
    public Schema schema() {
        return group.plan().answer();
    }

    @Override
    public boolean materialized() {
        return group.areViews();
    }

    @Override
    public QueryState state() {
        if (own.isPresent()) {
            return own.get().state();
        } else if (dropped) {
            return QueryState.DROPPED;
        }
        return member.failure().isPresent() || whyStopped().isPresent()
                ? QueryState.FAILED
                : group.query().state();
    }

    @Override
    public long firstEpoch() {
        return own.map(LocalStandingQuery::firstEpoch).orElse(firstEpoch);
    }

    @Override
    public long awaitReaders(BooleanSupplier read) {
        return own.orElseGet(group::query).awaitReaders(read);
    }

    @Override
    public long since() {
        return since;
    }

    @Override
    public Schedule schedule() {
        return own.map(LocalStandingQuery::schedule).orElseGet(group.options()::schedule);
    }

    @Override
    public void schedule(Schedule schedule) {
        own().schedule(schedule);
    }

    @Override
    public long takeIn() {
        return own.orElseGet(group::query).takeIn();
    }

    @Override
    public boolean waitsForCheckpoint() {
        return false;
    }

    @Override
    public Optional<String> stuckIn() {
        return own.orElseGet(group::query).stuckIn();
    }

    @Override
    public Optional<MillraceException> failure() {
        return own.isPresent()
                ? own.get().failure()
                : member.failure()
                        .or(this::whyStopped)
                        .or(this::failureOfRows)
                        .or(() -> group.query().failure());
    }

    @Override
    public Subscription subscribe(SubscriptionOptions options) {
        LocalSubscription[] made = new LocalSubscription[1];
        Optional<Subscription> ofOwn = engine.whileChanging(() -> {
            if (own.isEmpty() && !dropped) {
                engine.atRest(group.query(), () -> {
                    if (own.isEmpty()
                            && !dropped) { // it may have left while that was waited for, where one thread does all
                        made[0] = listen(options);
                    }
                });
            }
            return made[0] == null ? own.map(query -> query.subscribe(options)) : Optional.empty();
        });
        if (made[0] != null) {
            return made[0];
        }
        requireThere();
        return ofOwn.orElseThrow();
    }

    /** Lets somebody hear what comes. While the group's epochs are at rest, or it has no rows yet. */
    LocalSubscription listen(SubscriptionOptions options) {
        Optional<VersionedView> answer =
                options.snapshot() ? group.feed(member).flatMap(Scannable.Feed::view) : Optional.empty();
        if (options.snapshot() && !group.areViews()) {
            throw MillraceException.user(
                    SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "\"" + member.name() + "\" keeps no answer to begin with: it is not materialized");
        }
        LocalSubscription[] self = new LocalSubscription[1];
        Audience audience = group.audience(member);
        if (options.comesAgain()) {
            audience.history().begin(group.query().output().publishedMicros());
        }
        LocalSubscription subscription = new LocalSubscription(
                schema(), options, engine.workers(), group.query().tasks()::wakeAll, () -> audience.remove(self[0]));
        self[0] = subscription;
        Optional<MillraceException> stop = whyStopped();
        if (stop.isPresent() && !options.throughStops() && failureForGood().isEmpty()) {
            subscription.end(stop);
            return subscription;
        }
        options.afterMicros().ifPresent(after -> audience.history().replay(member.name(), after, subscription));
        answer.ifPresent(rows -> begin(subscription, rows));
        if (failureForGood().isEmpty() && group.query().state() == QueryState.RUNNING) {
            audience.add(subscription);
        } else {
            subscription.end(failureForGood());
        }
        return subscription;
    }

    private void begin(LocalSubscription subscription, VersionedView answer) {
        QueryOutput output = group.query().output();
        List<Batch> rows = answer.snapshot(group.query().tasks().memory().own());
        try {
            subscription.deliver(output.publishedEpoch(), output.nextMicros(), rows, true);
        } finally {
            Closing.all(rows);
        }
    }

    private Optional<MillraceException> failureForGood() {
        return member.failure().or(() -> group.query().failure());
    }

    @Override
    public void pause() {
        own().pause();
    }

    @Override
    public OptionalLong resume() {
        return own.isPresent() || state() != QueryState.RUNNING
                ? own().resume()
                : OptionalLong.of(group.query().touchEpoch());
    }

    @Override
    public boolean isStopped() {
        return own.map(LocalStandingQuery::isStopped)
                .orElseGet(() -> whyStopped().isPresent() && failureForGood().isEmpty() && !dropped);
    }

    @Override
    public Optional<MillraceException> whyStopped() {
        return own.isPresent() ? own.get().whyStopped() : member.failedRows().flatMap(FailedRows::stopped);
    }

    @Override
    public Optional<MillraceException> failureOfRows() {
        return own.isPresent() ? own.get().failureOfRows() : member.failedRows().flatMap(FailedRows::failure);
    }

    @Override
    public long leaveOutFailedRows() {
        return own().leaveOutFailedRows();
    }

    @Override
    public List<FailedRows.LeftOut> rowsLeftOut() {
        return own.map(LocalStandingQuery::rowsLeftOut).orElse(List.of());
    }

    @Override
    public void drop() {
        engine.changing(() -> {
            if (own.isPresent()) {
                own.get().drop();
            } else if (!dropped) {
                dropped = true;
                group.drop(this);
            }
        });
    }

    @Override
    public QueryState await() {
        if (own.isPresent()) {
            return own.get().await();
        }
        engine.await(() -> own.isPresent() || !state().isAlive());
        return state();
    }

    @Override
    public QuerySnapshot snapshot() {
        return own().snapshot();
    }

    /** Time and memory are its share of the group's. */
    @Override
    public QueryStatistics statistics() {
        if (own.isPresent()) {
            return own.get().statistics();
        }
        QueryStatistics all = group.statistics();
        int members = Math.max(1, group.members());
        return new QueryStatistics(
                member.name(),
                state(),
                member.rowsIn(all.rowsIn()),
                member.rowsOut(),
                all.lateRows() - lateBefore,
                all.cpuNanos() / members,
                group.commonBytes(all.memoryBytes()) / members
                        + member.rows().map(VersionedView::bytes).orElse(0L),
                all.spilledBytes() / members,
                member.rows().map(VersionedView::rowCount).orElse(0L),
                all.lastEpoch(),
                all.latencies(),
                member.audience()
                        .map(audience -> LocalSubscription.statistics(audience.subscriptions(), engine.epochMicros()))
                        .orElse(SubscriberStatistics.NONE),
                List.of(),
                List.of(),
                List.of(),
                List.of());
    }

    @Override
    public List<LateRow> lateRows() {
        if (own.isPresent()) {
            return own.get().lateRows();
        }
        List<LateRow> all = group.query().lateRows();
        long count = group.query().tasks().late().count() - lateBefore;
        return all.subList(all.size() - (int) Math.min(all.size(), Math.max(0, count)), all.size());
    }
}
