package dev.millrace.server.planning;

import dev.millrace.connector.query.FileCall;
import dev.millrace.connector.query.FileRelation;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.type.PlainNumeric;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** A session's catalog that notes whether what was found holds for this session only, or for this role. */
public final class SessionUse implements Catalog {
    /** The functions that stop other sessions, which is for a statement to do once. */
    public static final String CANCEL = "session_cancel";

    public static final String TERMINATE = "session_terminate";

    /** The function that sets a setting, likewise. */
    public static final String SET = "set_config";

    private final Catalog names;
    private final SessionUse noted; // where it is
    private boolean own;
    private boolean stops;
    private boolean looks;

    public SessionUse(Catalog names) {
        this.names = names;
        this.noted = this;
    }

    private SessionUse(Catalog names, SessionUse noted) {
        this.names = names;
        this.noted = noted;
    }

    /** Whether another session, or the same one later, could have got another answer. */
    public boolean isOwn() {
        return own || looks;
    }

    /** Whether what was found holds for the next execution by this session, with the files as they were found. */
    public boolean isForNext() {
        return !own;
    }

    /** Whether a function was found that stops sessions. */
    boolean stops() {
        return stops;
    }

    @Override
    public Optional<Relation> relation(String name) {
        return names.relation(name);
    }

    @Override
    public Optional<Relation> exactRelation(String name) {
        return names.exactRelation(name);
    }

    @Override
    public boolean hasOwnNames() {
        return names.hasOwnNames();
    }

    @Override
    public boolean isSchema(String name) {
        return names.isSchema(name);
    }

    @Override
    public Catalog ofDefinitions() {
        Catalog literal = names.ofDefinitions();
        return literal == names ? this : new SessionUse(literal, noted);
    }

    @Override
    public FileRelation files(FileCall call) {
        noted.looks = true;
        return names.files(call);
    }

    @Override
    public Collection<String> relationNames() {
        return names.relationNames();
    }

    @Override
    public Optional<String> sessionFunction(String name, List<String> arguments) {
        Optional<String> value = names.sessionFunction(name, arguments);
        noted.own |= value.isPresent();
        return value;
    }

    @Override
    public Optional<String> subscribed(String subscription) {
        return names.subscribed(subscription);
    }

    @Override
    public Optional<String> viewQuery(String name) {
        return names.viewQuery(name);
    }

    @Override
    public PlainNumeric numericIn(String relation) {
        return names.numericIn(relation);
    }

    @Override
    public Optional<String> nextValue(String relation, String column) {
        return names.nextValue(relation, column);
    }

    @Override
    public Optional<UserFunction> view(String name) {
        Optional<UserFunction> view = names.view(name);
        noted.own |= view.isPresent();
        return view;
    }

    @Override
    public boolean isMadeByUser(String function) {
        return names.isMadeByUser(function);
    }

    @Override
    public Optional<UserFunction> userFunction(String name) {
        Optional<UserFunction> function = names.userFunction(name);
        noted.own |= function.isPresent(); // its privilege is asked for when it is found
        noted.stops |= function.isPresent() && (name.equals(CANCEL) || name.equals(TERMINATE) || name.equals(SET));
        return function;
    }
}
