package dev.millrace.server.query;

import dev.millrace.engine.runtime.QueryGroup;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.engine.subscription.SubscriptionOptions.WhenFull;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.planner.PhysicalPlan;
import dev.millrace.planner.group.GroupForm;
import dev.millrace.server.cancellation.Cancellation;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.permission.Permissions;
import dev.millrace.server.planning.StandingRules;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.ChangeRows;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.template.TemplateQueries;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.OnSlow;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * SUBSCRIBE: to a query that runs anyway, or to one that is started for it: by itself, or among others that differ from it in literals alone. Belongs to the session's thread.
 */
public final class Subscriptions {
    private final Instance database;
    private final SessionSettings settings;
    private final Queries queries;
    private final Cancellation cancellation;
    private final Consumer<String> notices;
    private final Permissions permissions;
    private OptionalLong subscribeAfter = OptionalLong.empty(); // while a SUBSCRIBE is executed

    public Subscriptions(
            Instance database,
            SessionSettings settings,
            Queries queries,
            Cancellation cancellation,
            Consumer<String> notices,
            Permissions permissions) {
        this.permissions = permissions;
        this.database = database;
        this.settings = settings;
        this.queries = queries;
        this.cancellation = cancellation;
        this.notices = notices;
    }

    /** Executes something with what SUBSCRIBE says of its beginning replaced by a time, if there is one. */
    public StatementResult beginningAfter(OptionalLong micros, Supplier<StatementResult> what) {
        subscribeAfter = micros;
        try {
            return what.get();
        } finally {
            subscribeAfter = OptionalLong.empty();
        }
    }

    public StatementResult subscribe(Statement.Subscribe asked) {
        Statement.Subscribe subscribe = asked;
        if (subscribeAfter.isPresent()) {
            subscribe = new Statement.Subscribe(
                    asked.subscription(),
                    asked.relation(),
                    asked.query(),
                    false,
                    asked.progress(),
                    subscribeAfter,
                    asked.onSlow(),
                    asked.bufferBytes());
        }
        return begin(subscribe);
    }

    private StatementResult begin(Statement.Subscribe subscribe) {
        if (subscribe.asOfMicros().isPresent() && subscribe.snapshot()) {
            throw MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, "a subscription AS OF a time has no snapshot")
                    .withHint("AS OF goes on behind what was seen; SNAPSHOT begins again");
        }
        Optional<CatalogObject> named = subscribe.relation().flatMap(database.catalog()::object);
        Optional<CatalogObject> ofTemplate =
                named.filter(found -> TemplateQueries.template(found).isPresent());
        Optional<CatalogObject> object = ofTemplate
                .flatMap(query ->
                        database.catalog().object(query.reads().iterator().next()))
                .or(() -> named);
        object.ifPresent(queries.checks()::requireHealthy);
        queries.checks().requireStreaming(subscribe.query().relations(), "SUBSCRIBE");
        Optional<StandingQuery> running = object.filter(
                        found -> !database.plans().isReplayable(found.name()))
                .flatMap(found -> database.standing(found.name()));
        if (running.isPresent()) {
            SubscriptionOptions options = new SubscriptionOptions(
                    subscribe.snapshot(),
                    subscribe.progress(),
                    bufferBytes(subscribe),
                    whenFull(onSlow(subscribe)),
                    subscribe.asOfMicros());
            StandingChanges changes = new StandingChanges(
                    subscription(subscribe, running.get(), options),
                    form(subscribe),
                    object.get().appendOnly(),
                    cancellation,
                    notices);
            return ofTemplate.isEmpty()
                    ? changes
                    : new QueryChanges(
                            changes,
                            ofTemplate.get().name(),
                            ofTemplate.get().schema(),
                            form(subscribe),
                            database.engine().allocator());
        }
        if (subscribe.asOfMicros().isPresent()) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "AS OF needs a continuous query or a view, whose changes are kept for a while")
                    .withHint("CREATE CONTINUOUS QUERY q AS ...; SUBSCRIBE TO q AS OF '...'");
        }
        Optional<CatalogObject> live = object.filter(
                found -> found.input().filter(input -> !input.replayable()).isPresent());
        if (subscribe.snapshot() && live.isPresent()) {
            throw MillraceException.user(
                    SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "stream \"" + live.get().name() + "\" keeps no rows to make a snapshot of");
        }
        return subscribeToOwn(subscribe);
    }

    /** From the query, or where its changes are kept. */
    private Subscription subscription(
            Statement.Subscribe subscribe, StandingQuery running, SubscriptionOptions options) {
        if (subscribe.subscription().isPresent()) {
            String name = subscribe.subscription().get();
            permissions.requireSubscription(name, database.histories().owner(name));
            return database.histories().subscribe(name, options);
        }
        return database.histories().subscribeTo(running.name(), options).orElseGet(() -> running.subscribe(options));
    }

    private StatementResult subscribeToOwn(Statement.Subscribe subscribe) {
        PhysicalPlan plan = queries.plan(subscribe.query(), StandingRules.NONE);
        // Who reads only what is read for it alone, from the first row on, makes nobody else wait.
        boolean alone = !subscribe.query().relations().isEmpty()
                && subscribe.query().relations().stream().allMatch(database.plans()::givesAllRowsAgain);
        OnSlow onSlow = alone ? subscribe.onSlow().orElse(OnSlow.BLOCK) : onSlow(subscribe);
        String name = database.subscriptionName();
        QueryOptions how = queries.limits().limited(QueryOptions.streaming());
        Optional<GroupForm> group = onSlow == OnSlow.BLOCK || !queries.limits().mayShare()
                ? Optional.empty() // the others of a group would wait with it
                : database.groups().form(plan.root());
        SubscriptionOptions options = new SubscriptionOptions(
                        false, subscribe.progress(), bufferBytes(subscribe), whenFull(onSlow), OptionalLong.empty())
                .withoutReturn();
        Optional<QueryGroup.Subscribed> member =
                group.flatMap(common -> database.groups().subscribe(name, common, how, options));
        if (member.isPresent()) {
            return new StandingChanges(
                    OwnSubscription.of(member.get()), form(subscribe), plan.appendOnly(), cancellation, notices);
        }
        try {
            return byItself(name, subscribe, plan, how, onSlow);
        } catch (RuntimeException | Error e) {
            database.groups().forget(name);
            throw e;
        }
    }

    private StatementResult byItself(
            String name, Statement.Subscribe subscribe, PhysicalPlan plan, QueryOptions how, OnSlow onSlow) {
        ChangeQueue queue = new ChangeQueue(database.clock(), whenFull(onSlow), bufferBytes(subscribe));
        StandingQuery query = database.engine()
                .start(
                        name,
                        plan.root(),
                        how.withSink(queue)
                                .withMostSinkNanos(
                                        Long.MAX_VALUE) // a client may read when it likes, or on_slow says what else
                                .withMostBytes(queries.limits().mostBytes()));
        return new OwnChanges(
                subscribe.query().schema(),
                query,
                queue,
                plan.appendOnly(),
                form(subscribe),
                cancellation,
                notices,
                () -> database.groups().forget(name));
    }

    /** Whether a subscription may have the query wait that it reads. */
    public boolean haveWait(Statement.Subscribe subscribe) {
        return onSlow(subscribe) == OnSlow.BLOCK;
    }

    private OnSlow onSlow(Statement.Subscribe subscribe) {
        return subscribe
                .onSlow()
                .orElseGet(() -> OnSlow.valueOf(settings.get(Setting.ON_SLOW).toUpperCase(Locale.ROOT)));
    }

    private long bufferBytes(Statement.Subscribe subscribe) {
        return subscribe.bufferBytes().orElseGet(() -> settings.bytes(Setting.SUBSCRIPTION_BUFFER));
    }

    private static WhenFull whenFull(OnSlow onSlow) {
        return switch (onSlow) {
            case BLOCK -> WhenFull.WAIT;
            case DROP_OLDEST -> WhenFull.DROP_OLDEST;
            case DISCONNECT -> WhenFull.END;
        };
    }

    /** How the changes of a subscription are shown as rows. */
    public ChangeRows.Form form(Statement.Subscribe subscribe) {
        return new ChangeRows.Form(
                subscribe.query().schema(), subscribe.progress(), onSlow(subscribe) == OnSlow.DROP_OLDEST);
    }
}
