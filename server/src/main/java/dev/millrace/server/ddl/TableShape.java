package dev.millrace.server.ddl;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.server.catalog.DeclaredTypes;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.catalog.TableRules.Check;
import dev.millrace.sql.catalog.TableRules.Unique;
import dev.millrace.sql.statement.AlterTable;
import dev.millrace.sql.statement.Statement.CreateTable;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.WatermarkDefinition;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.sql.text.Lexer;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * A table while it is altered: what CREATE TABLE would say of it, and for each column the expression over the table as it was
 * that gives its values. After each action the whole is bound again, as CREATE TABLE is.
 *
 * <p>Long because each action is said of all parts of one definition.
 */
final class TableShape {
    private static final Map<String, String> SERIAL =
            Map.of("integer", "serial", "bigint", "bigserial", "smallint", "smallserial");

    private final Function<String, CreateTable> bind;
    private final Consumer<String> notices;
    private final Map<String, String> values = new LinkedHashMap<>(); // of columns that are not made anew
    private CreateTable table;

    /** @param bind analyses a CREATE TABLE */
    TableShape(CreateTable table, Function<String, CreateTable> bind, Consumer<String> notices) {
        this.table = table;
        this.bind = bind;
        this.notices = notices;
        table.columns().forEach(field -> values.put(field.name(), Identifiers.quote(field.name())));
    }

    CreateTable table() {
        return table;
    }

    /** The expressions that give columns their values, by name; others the server makes. */
    Map<String, String> values() {
        return values;
    }

    // ---- actions ---------------------------------------------------------------------------------------------------

    void apply(AlterTable.Action action) {
        if (action instanceof AlterTable.AddColumn add) {
            addColumn(add);
        } else if (action instanceof AlterTable.DropColumn drop) {
            dropColumn(drop);
        } else if (action instanceof AlterTable.RenameColumn rename) {
            renameColumn(rename);
        } else if (action instanceof AlterTable.SetDefault set) {
            setDefault(set);
        } else if (action instanceof AlterTable.SetNotNull set) {
            setNotNull(set);
        } else if (action instanceof AlterTable.SetType set) {
            setType(set);
        } else if (action instanceof AlterTable.AddConstraint add) {
            rebind(table, List.of(add.definition()));
        } else if (action instanceof AlterTable.DropConstraint drop) {
            dropConstraint(drop);
        } else if (action instanceof AlterTable.RenameConstraint rename) {
            renameConstraint(rename);
        } else if (action instanceof AlterTable.Restart restart) {
            requireCounter(restart.column());
        }
    }

    private void requireCounter(String column) {
        require(column);
        if (table.rules().of(column).filter(ColumnRule::isNumbered).isEmpty()) {
            throw MillraceException.user(
                    SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "column \"" + column + "\" of relation \"" + table.name()
                            + "\" is not an identity or serial column");
        }
    }

    private boolean has(String column) {
        return table.columns().stream().anyMatch(field -> field.name().equals(column));
    }

    private Field require(String column) {
        return table.columns().stream()
                .filter(field -> field.name().equals(column))
                .findFirst()
                .orElseThrow(() -> {
                    MillraceException error = MillraceException.user(
                            SqlState.UNDEFINED_COLUMN,
                            "column \"" + column + "\" of relation \"" + table.name() + "\" does not exist");
                    return Suggestion.nearest(
                                    column,
                                    table.columns().stream().map(Field::name).toList())
                            .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                            .orElse(error);
                });
    }

    private void requireFree(String column) {
        if (has(column)) {
            throw MillraceException.user(
                    SqlState.DUPLICATE_COLUMN,
                    "column \"" + column + "\" of relation \"" + table.name() + "\" already exists");
        }
    }

    private void addColumn(AlterTable.AddColumn add) {
        if (add.ifNotExists() && has(add.column())) {
            notices.accept(
                    "column \"" + add.column() + "\" of relation \"" + table.name() + "\" already exists, skipping");
            return;
        }
        requireFree(add.column());
        rebind(table, List.of(add.definition()));
        Optional<ColumnRule> rule = table.rules().of(add.column());
        String type = DeclaredTypes.text(require(add.column()), table.rules());
        if (rule.isEmpty()) {
            values.put(add.column(), "CAST(NULL AS " + type + ")");
        } else if (rule.get().kind() == ColumnRule.Kind.DEFAULT) {
            values.put(add.column(), "CAST((" + rule.get().text() + ") AS " + type + ")");
        }
    }

    private void dropColumn(AlterTable.DropColumn drop) {
        if (drop.ifExists() && !has(drop.column())) {
            notices.accept(
                    "column \"" + drop.column() + "\" of relation \"" + table.name() + "\" does not exist, skipping");
            return;
        }
        require(drop.column());
        if (table.columns().size() == 1) {
            throw refused("the last column cannot be dropped", "DROP TABLE");
        }
        requireOutside(drop.column(), "DROP COLUMN", false);
        boolean inKey = table.primaryKey().contains(drop.column());
        List<Field> fields = table.columns().stream()
                .filter(field -> !field.name().equals(drop.column()))
                .toList();
        Map<String, ColumnRule> rules = new LinkedHashMap<>(table.rules().columns());
        rules.remove(drop.column());
        List<Check> checks = table.rules().checks().stream()
                .filter(check -> !needs(check.text(), drop.column(), Map.of(), List.of(check)))
                .toList();
        values.remove(drop.column());
        List<Unique> uniques = table.rules().uniques().stream()
                .filter(unique -> !unique.columns().contains(drop.column()))
                .toList();
        Map<String, Integer> digits = new LinkedHashMap<>(table.rules().digits());
        digits.remove(drop.column());
        rebind(
                with(
                        fields,
                        inKey ? List.of() : table.primaryKey(),
                        new TableRules(
                                rules, checks, uniques, digits, table.rules().conflict())),
                List.of());
    }

    private void renameColumn(AlterTable.RenameColumn rename) {
        require(rename.column());
        requireFree(rename.newName());
        requireOutside(rename.column(), "RENAME COLUMN", true);
        List<Field> fields = table.columns().stream()
                .map(field -> field.name().equals(rename.column())
                        ? new Field(rename.newName(), field.type(), field.nullable())
                        : field)
                .toList();
        Map<String, ColumnRule> rules = new LinkedHashMap<>();
        table.rules()
                .columns()
                .forEach((column, rule) -> rules.put(column.equals(rename.column()) ? rename.newName() : column, rule));
        List<String> key = table.primaryKey().stream()
                .map(column -> column.equals(rename.column()) ? rename.newName() : column)
                .toList();
        Optional.ofNullable(values.remove(rename.column())).ifPresent(value -> values.put(rename.newName(), value));
        List<Unique> uniques = table.rules().uniques().stream()
                .map(unique -> new Unique(
                        unique.name(),
                        unique.columns().stream()
                                .map(column -> column.equals(rename.column()) ? rename.newName() : column)
                                .toList()))
                .toList();
        Map<String, Integer> digits = new LinkedHashMap<>();
        table.rules()
                .digits()
                .forEach((column, count) ->
                        digits.put(column.equals(rename.column()) ? rename.newName() : column, count));
        rebind(
                with(
                        fields,
                        key,
                        new TableRules(
                                rules,
                                table.rules().checks(),
                                uniques,
                                digits,
                                table.rules().conflict().map(rule -> rule.renamed(rename.column(), rename.newName())))),
                List.of());
    }

    /** What names the column in a text, or in another way that would have to change with it. */
    private void requireOutside(String column, String action, boolean checksToo) {
        if (table.watermark()
                .filter(watermark -> watermark.column().equals(column))
                .isPresent()) {
            throw refused(action + " of the column of the watermark", "CREATE TABLE with another");
        }
        boolean isVersion = table.rules()
                .conflict()
                .filter(rule -> rule.versions().contains(column))
                .isPresent();
        if (!checksToo && isVersion) {
            throw refused(action + " of a version column", "CREATE TABLE with another");
        }
        computedFrom(column).stream().findFirst().ifPresent(other -> {
            throw MillraceException.user(
                            SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                            "cannot alter column \"" + column + "\" because generated column \"" + other
                                    + "\" is computed from it")
                    .withHint("DROP COLUMN " + Identifiers.quote(other) + " first");
        });
        for (Check check : table.rules().checks()) {
            if (checksToo && mentions(check.text(), column)) {
                throw refused(
                        action + " of a column that CHECK \"" + check.name() + "\" names",
                        "DROP CONSTRAINT " + Identifiers.quote(check.name()) + " first, and ADD it again");
            }
        }
    }

    /** Generated columns that are computed from a column. */
    List<String> computedFrom(String column) {
        return table.rules().columns().entrySet().stream()
                .filter(entry -> entry.getValue().kind() == ColumnRule.Kind.GENERATED
                        && !entry.getKey().equals(column)
                        && needs(entry.getValue().text(), column, Map.ofEntries(entry), List.of()))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }

    /** Whether a rule cannot be bound without a column; the word alone may as well be a function, a type or a part of a time. */
    private boolean needs(String text, String column, Map<String, ColumnRule> rules, List<Check> checks) {
        if (!mentions(text, column)) {
            return false;
        }
        List<Field> others = table.columns().stream()
                .filter(field -> !field.name().equals(column))
                .toList();
        Map<String, Integer> digits = new LinkedHashMap<>(table.rules().digits());
        digits.remove(column);
        TableRules alone = new TableRules(rules, checks, List.of(), digits, Optional.empty());
        CreateTable without =
                new CreateTable(table.name(), IfExists.FAIL, others, List.of(), alone, Optional.empty(), Map.of());
        try {
            CreateTable unused = bind.apply(text(elements(without), without));
            return false;
        } catch (MillraceException e) {
            return e.sqlState() == SqlState.UNDEFINED_COLUMN;
        }
    }

    private static boolean mentions(String text, String column) {
        return Lexer.tokens(text).stream()
                .anyMatch(lexeme -> lexeme.isName() && lexeme.text().equals(column));
    }

    private static MillraceException refused(String what, String instead) {
        return MillraceException.notAvailableYet(what).withHint(instead);
    }

    private void setDefault(AlterTable.SetDefault set) {
        require(set.column());
        Map<String, ColumnRule> rules = new LinkedHashMap<>(table.rules().columns());
        Optional<ColumnRule> before = table.rules().of(set.column());
        if (before.filter(rule -> rule.isIdentity() || rule.kind() == ColumnRule.Kind.GENERATED)
                .isPresent()) {
            throw MillraceException.user(
                    SqlState.SYNTAX_ERROR,
                    "column \"" + set.column() + "\" of relation \"" + table.name() + "\" is "
                            + (before.get().isIdentity() ? "an identity column" : "a generated column"));
        }
        rules.remove(set.column());
        set.expression().ifPresent(text -> rules.put(set.column(), new ColumnRule(ColumnRule.Kind.DEFAULT, text)));
        rebind(
                with(
                        table.columns(),
                        table.primaryKey(),
                        new TableRules(
                                rules,
                                table.rules().checks(),
                                table.rules().uniques(),
                                table.rules().digits(),
                                table.rules().conflict())),
                List.of());
    }

    private void setNotNull(AlterTable.SetNotNull set) {
        require(set.column());
        boolean made =
                table.rules().of(set.column()).filter(ColumnRule::isNumbered).isPresent();
        if (!set.notNull() && (table.primaryKey().contains(set.column()) || made)) {
            throw MillraceException.user(
                    SqlState.INVALID_TABLE_DEFINITION,
                    "column \"" + set.column() + "\" is " + (made ? "numbered" : "in a primary key"));
        }
        List<Field> fields = table.columns().stream()
                .map(field -> field.name().equals(set.column())
                        ? new Field(field.name(), field.type(), !set.notNull())
                        : field)
                .toList();
        rebind(with(fields, table.primaryKey(), table.rules()), List.of());
    }

    private void setType(AlterTable.SetType set) {
        Field before = require(set.column());
        requireOutside(set.column(), "ALTER COLUMN TYPE", false);
        if (table.primaryKey().contains(set.column())) {
            throw refused(
                    "ALTER COLUMN TYPE of a column of the primary key",
                    "ALTER TABLE .. DROP CONSTRAINT " + Identifiers.quote(table.name() + "_pkey") + " first");
        }
        boolean made = table.rules()
                .of(set.column())
                .filter(rule -> rule.kind() == ColumnRule.Kind.GENERATED || rule.kind() == ColumnRule.Kind.SERIAL)
                .isPresent();
        if (made) {
            throw refused("another type of a generated or numbered column", "DROP COLUMN, and ADD it again");
        }
        String column = Identifiers.quote(set.column());
        List<String> elements = elements(table);
        int place = table.columns().indexOf(before);
        String as = column + " " + DeclaredTypes.text(before, table.rules());
        elements.set(place, column + " " + set.type() + elements.get(place).substring(as.length()));
        CreateTable altered = ofOtherType(elements, set.column());
        Field after = altered.columns().get(place);
        if (set.using().isEmpty() && before.type().isText() && !after.type().isText()) {
            throw MillraceException.user(
                            SqlState.DATATYPE_MISMATCH,
                            "column \"" + set.column() + "\" cannot be cast automatically to type " + after.type())
                    .withHint("USING " + column + "::" + after.type());
        }
        values.computeIfPresent(
                set.column(),
                (name, value) -> "CAST("
                        + set.using().map(using -> "(" + using + ")").orElse(value) + " AS "
                        + DeclaredTypes.text(after, altered.rules()) + ")");
        table = altered;
    }

    private CreateTable ofOtherType(List<String> elements, String column) {
        try {
            return bind.apply(text(elements, table));
        } catch (MillraceException e) {
            if (table.rules().of(column).isEmpty()) {
                throw e;
            }
            throw MillraceException.user(
                            SqlState.DATATYPE_MISMATCH,
                            "default for column \"" + column + "\" cannot be cast automatically: " + e.getMessage())
                    .withHint("ALTER COLUMN " + Identifiers.quote(column) + " DROP DEFAULT first");
        }
    }

    private void dropConstraint(AlterTable.DropConstraint drop) {
        List<Check> checks = table.rules().checks().stream()
                .filter(check -> !check.name().equals(drop.constraint()))
                .toList();
        boolean isKey = isKey(drop.constraint());
        List<Unique> uniques = table.rules().uniques().stream()
                .filter(unique -> !unique.name().equals(drop.constraint()))
                .toList();
        boolean isThere = isKey
                || checks.size() < table.rules().checks().size()
                || uniques.size() < table.rules().uniques().size();
        if (!isThere) {
            String message =
                    "constraint \"" + drop.constraint() + "\" of relation \"" + table.name() + "\" does not exist";
            if (drop.ifExists()) {
                notices.accept(message + ", skipping");
                return;
            }
            throw MillraceException.user(SqlState.UNDEFINED_OBJECT, message);
        }
        rebind(
                with(
                        table.columns(),
                        isKey ? List.of() : table.primaryKey(),
                        new TableRules(
                                table.rules().columns(),
                                checks,
                                uniques,
                                table.rules().digits(),
                                table.rules().conflict())),
                List.of());
    }

    private void renameConstraint(AlterTable.RenameConstraint rename) {
        if (isKey(rename.constraint())) {
            throw refused("another name of a primary key, which is called as its table is", "ALTER TABLE .. RENAME TO");
        }
        TableRules rules = table.rules();
        if (!hasConstraint(rename.constraint())) {
            throw MillraceException.user(
                    SqlState.UNDEFINED_OBJECT,
                    "constraint \"" + rename.constraint() + "\" for table \"" + table.name() + "\" does not exist");
        }
        if (hasConstraint(rename.newName()) || isKey(rename.newName())) {
            throw MillraceException.user(
                    SqlState.DUPLICATE_OBJECT,
                    "constraint \"" + rename.newName() + "\" for relation \"" + table.name() + "\" already exists");
        }
        UnaryOperator<String> renamed = name -> name.equals(rename.constraint()) ? rename.newName() : name;
        TableRules after = new TableRules(
                rules.columns(),
                rules.checks().stream()
                        .map(check -> new Check(renamed.apply(check.name()), check.text()))
                        .toList(),
                rules.uniques().stream()
                        .map(unique -> new Unique(renamed.apply(unique.name()), unique.columns()))
                        .toList(),
                rules.digits(),
                rules.conflict());
        rebind(with(table.columns(), table.primaryKey(), after), List.of());
    }

    private boolean isKey(String constraint) {
        String name = table.name()
                .substring(RelationNames.prefix(table.name()).length())
                .replaceFirst("^[.]", "");
        return constraint.equals(name + "_pkey") && !table.primaryKey().isEmpty();
    }

    private boolean hasConstraint(String name) {
        return table.rules().checks().stream().anyMatch(check -> check.name().equals(name))
                || table.rules().uniques().stream()
                        .anyMatch(unique -> unique.name().equals(name));
    }

    // ---- the text --------------------------------------------------------------------------------------------------

    private CreateTable with(List<Field> fields, List<String> key, TableRules rules) {
        return new CreateTable(table.name(), IfExists.FAIL, fields, key, rules, table.watermark(), table.options());
    }

    private void rebind(CreateTable changed, List<String> more) {
        List<String> elements = elements(changed);
        elements.addAll(more);
        table = bind.apply(text(elements, changed));
    }

    /** The CREATE TABLE that makes the table as it is now. */
    String text() {
        return text(elements(table), table);
    }

    private static String text(List<String> elements, CreateTable table) {
        String options = table.options().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(option -> option.getKey() + " = " + Identifiers.quoteText(option.getValue()))
                .collect(Collectors.joining(", "));
        return "CREATE TABLE " + RelationNames.quoted(table.name()) + " (" + String.join(", ", elements) + ")"
                + table.rules().conflict().map(rule -> " " + rule.text()).orElse("")
                + (options.isEmpty() ? "" : " WITH (" + options + ")");
    }

    /** The columns first, in their order. */
    private static List<String> elements(CreateTable table) {
        List<String> elements = new ArrayList<>();
        for (Field field : table.columns()) {
            elements.add(column(field, table.rules()));
        }
        if (!table.primaryKey().isEmpty()) {
            elements.add("PRIMARY KEY ("
                    + table.primaryKey().stream().map(Identifiers::quote).collect(Collectors.joining(", ")) + ")");
        }
        for (Check check : table.rules().checks()) {
            elements.add("CONSTRAINT " + Identifiers.quote(check.name()) + " CHECK (" + check.text() + ")");
        }
        for (Unique unique : table.rules().uniques()) {
            elements.add("CONSTRAINT " + Identifiers.quote(unique.name()) + " UNIQUE ("
                    + unique.columns().stream().map(Identifiers::quote).collect(Collectors.joining(", ")) + ")");
        }
        table.watermark().map(TableShape::watermark).ifPresent(elements::add);
        return elements;
    }

    private static String watermark(WatermarkDefinition watermark) {
        String column = Identifiers.quote(watermark.column());
        String delay = watermark.delayMicros() == 0 ? "" : " - INTERVAL '" + watermark.delayMicros() + " microseconds'";
        return "WATERMARK FOR " + column + " AS " + column + delay;
    }

    private static String column(Field field, TableRules rules) {
        Optional<ColumnRule> rule = rules.of(field.name());
        String type = DeclaredTypes.text(field, rules);
        if (rule.isPresent() && rule.get().kind() == ColumnRule.Kind.SERIAL) {
            return Identifiers.quote(field.name()) + " " + SERIAL.get(type);
        }
        String made = rule.map(some -> switch (some.kind()) {
                    case DEFAULT, UUID -> " DEFAULT " + some.text();
                    case IDENTITY -> " GENERATED BY DEFAULT AS IDENTITY";
                    case IDENTITY_ALWAYS -> " GENERATED ALWAYS AS IDENTITY";
                    case GENERATED -> " GENERATED ALWAYS AS (" + some.text() + ") STORED";
                    case SERIAL -> "";
                })
                .orElse("");
        return Identifiers.quote(field.name()) + " " + type + (field.nullable() ? "" : " NOT NULL") + made;
    }
}
