package dev.millrace.server.operation;

import dev.millrace.error.MillraceException;
import dev.millrace.server.storage.KeptObject;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Statement;
import dev.millrace.type.PlainNumeric;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Relations by what their definitions say, without opening anything: columns that only a connector knows are missing. For one thread. */
final class KnownRelations implements Catalog {
    private final Frontend frontend = new Frontend();
    private final Map<String, Statement> statements = new HashMap<>();
    private final Map<String, Relation> relations = new HashMap<>();
    private final Map<String, String> views = new HashMap<>();
    private final Map<String, PlainNumeric> numeric = new HashMap<>(); // in views

    /** @param objects in any order; those that cannot be understood are left out */
    KnownRelations(Collection<KeptObject> objects) {
        List<KeptObject> open = new ArrayList<>(objects);
        for (int before = Integer.MAX_VALUE; open.size() < before; ) {
            before = open.size();
            open.removeIf(this::isUnderstood);
        }
    }

    /** What an object's definition says; empty if it cannot be understood by what there is. */
    Optional<Statement> statement(KeptObject object) {
        return Optional.ofNullable(statements.get(object.name()));
    }

    private boolean isUnderstood(KeptObject object) {
        try (PlainNumeric.Binding meaning = object.numeric().bind()) {
            Statement statement = frontend.analyze(frontend.parse(object.sql()).get(0), this, Parameters.none());
            statements.put(object.name(), statement);
            schema(statement)
                    .ifPresent(schema -> relations.put(
                            object.name(),
                            new Relation(object.name(), kind(statement), schema, true, List.of(), Optional.empty())));
            if (statement instanceof Statement.CreateView view) {
                views.put(object.name(), view.queryText());
                numeric.put(object.name(), object.numeric());
            }
            return true;
        } catch (MillraceException e) {
            return false; // it may read what is to come; what cannot be restored opening tells of
        }
    }

    private static Relation.Kind kind(Statement statement) {
        if (statement instanceof Statement.CreateView) {
            return Relation.Kind.VIEW;
        }
        return statement instanceof Statement.CreateTable ? Relation.Kind.TABLE : Relation.Kind.STREAM;
    }

    private static Optional<Schema> schema(Statement statement) {
        if (statement instanceof Statement.CreateStream stream) {
            return Optional.of(new Schema(stream.columns()));
        } else if (statement instanceof Statement.CreateTable table) {
            return Optional.of(new Schema(table.columns()));
        } else if (statement instanceof Statement.CreateStreamAs stream) {
            return Optional.of(stream.query().schema());
        } else if (statement instanceof Statement.CreateContinuousQuery query) {
            return Optional.of(query.query().schema());
        } else if (statement instanceof Statement.CreateMaterializedView view) {
            return Optional.of(view.query().schema());
        }
        return statement instanceof Statement.CreateView view
                ? Optional.of(view.query().schema())
                : Optional.empty();
    }

    @Override
    public Optional<Relation> relation(String name) {
        return Optional.ofNullable(relations.get(name));
    }

    @Override
    public boolean isSchema(String name) {
        return Catalog.super.isSchema(name) || statements.containsKey(RelationNames.ofSchema(name));
    }

    @Override
    public Collection<String> relationNames() {
        return List.of();
    }

    @Override
    public Optional<String> viewQuery(String name) {
        return Optional.ofNullable(views.get(name));
    }

    @Override
    public PlainNumeric numericIn(String relation) {
        return numeric.getOrDefault(relation, PlainNumeric.UNLIMITED);
    }
}
