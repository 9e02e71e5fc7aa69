package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.pgwire.value.PgType;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.catalog.TableRules.Check;
import dev.millrace.sql.syntax.IntervalFields;
import dev.millrace.type.Field;
import java.util.List;
import java.util.Optional;
import java.util.function.ToIntFunction;

/** The rules of rows as PostgreSQL's catalog shows them: defaults, generated columns and CHECK. */
final class RuleContents {
    private final Oids oids;

    RuleContents(Oids oids) {
        this.oids = oids;
    }

    private static TableRules rules(ShownRelation relation) {
        return relation.object().map(CatalogObject::rules).orElse(TableRules.NONE);
    }

    /** The rule of a column. */
    static Optional<ColumnRule> of(ShownRelation relation, String column) {
        return rules(relation).of(column);
    }

    /** The modifier of a column's type: a length, digits, or which fields an interval has. */
    static int modifier(ShownRelation relation, Field column) {
        Integer digits = rules(relation).digits().get(column.name());
        if (digits == null) {
            return PgType.modifierOf(column.type());
        }
        return IntervalFields.ofNumber(digits)
                .map(fields -> PgType.intervalModifier(fields.first(), fields.last()))
                .orElseGet(() -> PgType.modifierOf(column.type(), digits));
    }

    /** The expression of a column's default or generation; numbers of an identity have none. */
    static Optional<String> expression(ShownRelation relation, String column) {
        return of(relation, column).filter(rule -> !rule.isIdentity()).map(ColumnRule::text);
    }

    /** The expression of a column's default; a generated column has none. */
    static Optional<String> byDefault(ShownRelation relation, String column) {
        return expression(relation, column).filter(text -> !rules(relation).isGenerated(column));
    }

    static List<Check> checks(ShownRelation relation) {
        return rules(relation).checks();
    }

    private int oid(ShownRelation relation) {
        return oids.of(relation.qualifiedName());
    }

    private int checkOid(ShownRelation relation, Check check) {
        return oids.of(relation.qualifiedName() + " check " + check.name());
    }

    void defaults(List<ShownRelation> relations, NamedRows rows) {
        for (ShownRelation relation : relations) {
            for (int column = 0; column < relation.schema().size(); column++) {
                int number = column + 1;
                expression(relation, relation.schema().field(column).name())
                        .ifPresent(text -> rows.add(
                                "oid",
                                oids.of(relation.qualifiedName() + " default " + number),
                                "adrelid",
                                oid(relation),
                                "adnum",
                                number,
                                "adbin",
                                text));
            }
        }
    }

    void constraints(List<ShownRelation> relations, NamedRows rows) {
        for (ShownRelation relation : relations) {
            for (Check check : checks(relation)) {
                rows.addBoth(
                        constraint(check.name(), "c", relation),
                        "oid",
                        checkOid(relation, check),
                        "conindid",
                        0,
                        "connoinherit",
                        false);
            }
        }
    }

    /** What {@code pg_constraint} says of any constraint that there is. */
    Object[] constraint(String name, String type, ShownRelation relation) {
        return new Object[] {
            "conname",
            name,
            "connamespace",
            oids.ofSchema(relation.schemaName()),
            "contype",
            type,
            "condeferrable",
            false,
            "condeferred",
            false,
            "convalidated",
            true,
            "conrelid",
            oid(relation),
            "contypid",
            0,
            "conparentid",
            0,
            "confrelid",
            0,
            "conislocal",
            true,
            "coninhcount",
            0
        };
    }

    /** Foreign keys. @param index the number of an index */
    void foreignKeys(List<ForeignKeyContents.Shown> keys, ToIntFunction<ShownRelation.Key> index, NamedRows rows) {
        for (ForeignKeyContents.Shown shown : keys) {
            Object[] constraint = constraint(shown.key().name(), "f", shown.table());
            for (int at = 0; at < constraint.length; at += 2) {
                if (constraint[at].equals("condeferrable")) {
                    constraint[at + 1] = shown.isDeferrable();
                } else if (constraint[at].equals("condeferred")) {
                    constraint[at + 1] = shown.isDeferred();
                } else if (constraint[at].equals("confrelid")) {
                    constraint[at + 1] = oid(shown.referenced());
                }
            }
            rows.addBoth(
                    constraint,
                    "oid",
                    oids.of(shown.numberedName()),
                    "conindid",
                    index.applyAsInt(shown.unique()),
                    "confupdtype",
                    shown.key().onUpdate().letter(),
                    "confdeltype",
                    shown.key().onDelete().letter(),
                    "confmatchtype",
                    shown.key().full() ? "f" : "s",
                    "connoinherit",
                    true,
                    "conkey",
                    shown.columns(),
                    "confkey",
                    shown.referencedColumns());
        }
    }

    /** The texts of CHECKs, by the numbers of their constraints. */
    void definitions(List<ShownRelation> relations, NamedRows rows) {
        for (ShownRelation relation : relations) {
            for (Check check : checks(relation)) {
                rows.add("oid", checkOid(relation, check), "definition", "CHECK (" + check.text() + ")");
            }
        }
    }
}
