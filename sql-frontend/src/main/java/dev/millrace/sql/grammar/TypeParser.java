package dev.millrace.sql.grammar;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.syntax.IntervalFields;
import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;

/** Types, and constants that begin with their type. */
final class TypeParser {
    /** What a type of several words is called as one. */
    private static final String DOUBLE = "float8";

    private static final Set<String> TYPES_OF_CONSTANTS = Set.of("""
            bool boolean int2 smallint int int4 integer int8 bigint float float4 real float8 numeric decimal text varchar bytea
            date time timestamp timestamptz interval uuid json jsonb double character char name""".split("\\s+"));

    /** Names that an order of texts by their bytes has in PostgreSQL. */
    private static final Set<String> COLLATIONS = Set.of("C", "POSIX", "default", "ucs_basic", "C.UTF-8", "C.utf8");

    private static final int ALL_DIGITS = 6;

    /** What may stand behind a number beside the fields. */
    private static final Set<String> UNITS_OF_NUMBERS =
            Set.of("years", "months", "week", "weeks", "days", "hours", "minutes", "seconds");

    private static final Set<String> UNITS = Set.of("""
            year years month months week weeks day days hour hours minute minutes second seconds millisecond
            milliseconds microsecond microseconds quarter quarters decade decades century centuries""".split("\\s+"));

    /** A type's name and the numbers in parentheses behind it. */
    private record Named(SqlIdentifier name, List<Integer> arguments) {}

    private final Tokens tokens;

    /** Of the {@code STRUCT<} around the place; and how many that are open are closed by what was read. */
    private int openAngles;

    private int closedAngles;

    TypeParser(Tokens tokens) {
        this.tokens = tokens;
    }

    static boolean isUnit(Lexeme lexeme) {
        return lexeme.kind() == Kind.WORD && UNITS.contains(lexeme.text());
    }

    // ---- types -----------------------------------------------------------------------------------------------------

    /** {@code numeric(10, 2)}, {@code int[]}, {@code timestamp(3) with time zone}, {@code ROW(a int, b text)}, {@code STRUCT<a int>}. */
    TypeSpec type() {
        int start = tokens.place();
        boolean struct = tokens.peek().isWord("struct");
        if ((struct || tokens.peek().isWord("row")) && tokens.peekAt(1).isSymbol("(")) {
            return rowType(start);
        }
        if (struct && tokens.peekAt(1).isSymbol("<")) {
            return angledType(start);
        }
        Named named = named();
        return made(named, dimensions(), start);
    }

    SqlDataTypeSpec dataType() {
        TypeSpec type = type();
        return new SqlDataTypeSpec(type, type.getParserPos());
    }

    private TypeSpec made(Named named, int dimensions, int start) {
        List<Integer> numbers = named.arguments;
        TypeSpec type = new TypeSpec(
                named.name,
                numbers.isEmpty() ? TypeSpec.NONE : numbers.get(0),
                numbers.size() < 2 ? TypeSpec.NONE : numbers.get(1),
                dimensions,
                tokens.positionFrom(start));
        collations();
        return type;
    }

    private TypeSpec rowType(int start) {
        SqlIdentifier name = SyntaxNodes.name("row", Tokens.position(tokens.next()));
        List<SqlIdentifier> names = new ArrayList<>();
        List<TypeSpec> types = new ArrayList<>();
        tokens.require("(");
        do {
            names.add(tokens.label());
            types.add(type());
        } while (tokens.acceptComma());
        tokens.require(")");
        int dimensions = dimensions();
        return new TypeSpec(name, TypeSpec.NONE, TypeSpec.NONE, dimensions, names, types, tokens.positionFrom(start));
    }

    /** {@code STRUCT<a INT, b STRUCT<c TEXT>[]>}, as RisingWave, Spark and Flink write it. */
    private TypeSpec angledType(int start) {
        SqlIdentifier name = SyntaxNodes.name("row", Tokens.position(tokens.next()));
        List<SqlIdentifier> names = new ArrayList<>();
        List<TypeSpec> types = new ArrayList<>();
        tokens.require("<");
        openAngles++;
        try {
            do {
                names.add(tokens.label());
                types.add(type());
            } while (closedAngles == 0 && tokens.acceptComma());
            closeAngle();
        } finally {
            openAngles--;
            closedAngles = openAngles == 0 ? 0 : closedAngles;
        }
        int dimensions = closedAngles == 0 ? dimensions() : 0;
        return new TypeSpec(name, -1, -1, dimensions, names, types, tokens.positionFrom(start));
    }

    /** Brackets that close together are one operator of the text. */
    private void closeAngle() {
        if (closedAngles > 0) {
            closedAngles--;
            return;
        }
        Lexeme bracket = tokens.peek();
        boolean closes = bracket.kind() == Kind.OPERATOR
                && bracket.text().chars().allMatch(c -> c == '>')
                && bracket.text().length() <= openAngles;
        if (!closes) {
            throw tokens.unexpected();
        }
        tokens.next();
        closedAngles = bracket.text().length() - 1;
    }

    private int dimensions() {
        int dimensions = 0;
        if (tokens.peek().isWord("array")) { // the standard's INT ARRAY[4]
            dimensions++;
            tokens.next();
            if (!tokens.peek().isSymbol("[")) {
                return dimensions;
            }
            bracket();
        }
        while (tokens.peek().isSymbol("[")) {
            bracket();
            dimensions++;
        }
        return dimensions;
    }

    private void bracket() {
        tokens.next();
        if (tokens.peek().kind() == Kind.INTEGER) {
            tokens.next();
        }
        tokens.require("]");
    }

    private Named named() {
        Lexeme word = tokens.peek();
        SqlParserPos position = Tokens.position(word);
        if (word.kind() == Kind.WORD) {
            switch (word.text()) {
                case "double" -> {
                    if (tokens.acceptAll("double", "precision")) {
                        return new Named(SyntaxNodes.name(DOUBLE, position), List.of());
                    }
                }
                case "character", "char" -> {
                    if (tokens.peekAt(1).isWord("varying")) {
                        tokens.next();
                        tokens.next();
                        return new Named(SyntaxNodes.name("varchar", position), numbers());
                    }
                }
                case "timestamp", "time" -> {
                    return time(word.text(), position);
                }
                case "interval" -> {
                    return interval(position);
                }
                default -> {}
            }
        }
        if (!QueryWords.isName(word)) {
            throw tokens.unexpected();
        }
        SqlIdentifier name = tokens.named(tokens.next());
        if (tokens.peek().isSymbol(".")) {
            List<String> names = new ArrayList<>(List.of(name.getSimple()));
            SqlParserPos all = position;
            while (tokens.acceptSymbol(".")) {
                SqlIdentifier part = tokens.label();
                names.add(part.getSimple());
                all = all.plus(part.getParserPosition());
            }
            name = new SqlIdentifier(names, all);
        }
        return new Named(name, numbers());
    }

    private Named time(String word, SqlParserPos position) {
        tokens.next();
        List<Integer> numbers = numbers();
        boolean zoned = tokens.acceptAll("with", "time", "zone");
        if (!zoned) {
            tokens.acceptAll("without", "time", "zone");
        }
        return new Named(SyntaxNodes.name(zoned ? word + "tz" : word, position), numbers);
    }

    /** {@code interval(3)}, {@code interval day to second(3)}: digits of seconds, all if none are said, and the fields. */
    private Named interval(SqlParserPos position) {
        SqlIdentifier name = SyntaxNodes.name("interval", position);
        tokens.next();
        if (!isField(tokens.peek())) {
            return new Named(name, numbers());
        }
        Lexeme first = tokens.next();
        Lexeme last = first;
        if (tokens.peek().isWord("to") && isField(tokens.peekAt(1))) {
            tokens.next();
            last = tokens.next();
        }
        List<Integer> digits = last.isWord("second") ? numbers() : List.of();
        return new Named(name, arguments(digits, fields(first, last)));
    }

    private static List<Integer> arguments(List<Integer> digits, IntervalFields fields) {
        return List.of(digits.isEmpty() ? ALL_DIGITS : digits.get(0), fields.number());
    }

    /** The one or two numbers of {@code (10, 2)}, or none. */
    private List<Integer> numbers() {
        if (!tokens.peek().isSymbol("(")) {
            return List.of();
        }
        tokens.next();
        List<Integer> numbers = new ArrayList<>(2);
        do {
            boolean isNegative = !numbers.isEmpty() && tokens.peek().isSymbol("-"); // a scale may be
            if (isNegative) {
                tokens.next();
            }
            numbers.add(isNegative ? -number() : number());
        } while (numbers.size() < 2 && tokens.acceptComma());
        tokens.require(")");
        return numbers;
    }

    private int number() {
        Lexeme number = tokens.peek();
        if (number.kind() != Kind.INTEGER) {
            throw tokens.unexpected();
        }
        try {
            int value = Integer.parseInt(number.text());
            tokens.next();
            return value;
        } catch (NumberFormatException e) {
            throw tokens.unexpected();
        }
    }

    private void collations() {
        while (tokens.peek().isWord("collate") && tokens.peekAt(1).isName()) {
            collation();
        }
    }

    /** Texts have one order, that of their bytes, which goes by several names; 0A000 for another. */
    void collation() {
        tokens.next();
        Lexeme first = tokens.peek();
        String name;
        do {
            name = tokens.label().getSimple();
        } while (tokens.acceptSymbol("."));
        if (!COLLATIONS.contains(name)) {
            throw MillraceException.notAvailableYet("collation \"" + name + "\"")
                    .at(first.start() + 1)
                    .withHint("texts are ordered by their bytes, as COLLATE \"C\" has them");
        }
    }

    // ---- constants -------------------------------------------------------------------------------------------------

    /** {@code DATE '2020-02-20'}, {@code numeric(5, 2) '1.5'}, {@code INTERVAL '1' DAY}; empty, at the same place, for others. */
    Optional<SqlNode> constant() {
        Lexeme word = tokens.peek();
        if (!TYPES_OF_CONSTANTS.contains(word.text()) || !mayBeConstant(tokens.peekAt(1))) {
            return Optional.empty();
        }
        int start = tokens.place();
        if (word.isWord("interval") && tokens.peekAt(1).kind() == Kind.STRING) {
            return Optional.of(intervalConstant());
        }
        if (tokens.peekAt(1).isSymbol("(") && tokens.peekAt(2).kind() != Kind.INTEGER) {
            return Optional.empty();
        }
        int length = lengthOfType();
        if (tokens.peekAt(length).kind() != Kind.STRING) {
            return Optional.empty();
        }
        Named named = named();
        Lexeme text = tokens.next();
        SqlParserPos position = tokens.positionFrom(start);
        return Optional.of(cast(
                text,
                new TypeSpec(
                        named.name,
                        named.arguments.isEmpty() ? TypeSpec.NONE : named.arguments.get(0),
                        named.arguments.size() < 2 ? TypeSpec.NONE : named.arguments.get(1),
                        0,
                        named.name.getParserPosition()),
                position));
    }

    private static boolean mayBeConstant(Lexeme next) {
        return next.kind() == Kind.STRING || next.isSymbol("(") || next.kind() == Kind.WORD;
    }

    /** How many tokens the type at the place has, if it is one that constants begin with. */
    private int lengthOfType() {
        String word = tokens.peek().text();
        boolean two = word.equals("double") && tokens.peekAt(1).isWord("precision")
                || word.equals("character") && tokens.peekAt(1).isWord("varying");
        if (!two && (word.equals("double") || word.equals("character"))) {
            return tokens.lexemes().size(); // a name
        }
        int length = two ? 2 : 1;
        if (tokens.peekAt(length).isSymbol("(") && tokens.peekAt(length + 1).kind() == Kind.INTEGER) {
            length += tokens.peekAt(length + 2).isSymbol(",") ? 5 : 3;
        }
        boolean zone =
                (tokens.peekAt(length).isWord("with") || tokens.peekAt(length).isWord("without"))
                        && tokens.peekAt(length + 1).isWord("time")
                        && tokens.peekAt(length + 2).isWord("zone");
        return zone ? length + 3 : length;
    }

    private static SqlNode cast(Lexeme text, TypeSpec type, SqlParserPos position) {
        SqlNode constant = SyntaxNodes.text(text.text(), Tokens.position(text));
        return SyntaxNodes.cast(constant, new SqlDataTypeSpec(type, type.getParserPos()), position);
    }

    /** An interval by a text that needs no fields. */
    SqlNode interval(String text, SqlParserPos position) {
        TypeSpec type = new TypeSpec(SyntaxNodes.name("interval", position), TypeSpec.NONE, TypeSpec.NONE, 0, position);
        return SyntaxNodes.cast(SyntaxNodes.text(text, position), new SqlDataTypeSpec(type, position), position);
    }

    /** {@code INTERVAL '...'} with the fields that may follow, put into its text, and the digits of its seconds. */
    private SqlNode intervalConstant() {
        int start = tokens.place();
        SqlIdentifier name = SyntaxNodes.name("interval", Tokens.position(tokens.next()));
        Lexeme constant = tokens.next();
        String text = constant.text();
        List<Integer> numbers = List.of();
        Lexeme unit = tokens.peek();
        if (isNumber(text) && unit.kind() == Kind.WORD && UNITS_OF_NUMBERS.contains(unit.text())) {
            text = text + " "
                    + tokens.next().text(); // Flink's INTERVAL '10' MINUTES; behind '10 minutes' it is an alias
        } else if (isField(unit)) {
            Lexeme first = tokens.next();
            Lexeme last = first;
            List<Integer> digits = precision();
            if (tokens.peek().isWord("to") && isField(tokens.peekAt(1))) {
                tokens.next();
                last = tokens.next();
                digits = precision();
            }
            IntervalFields fields = fields(first, last);
            numbers = last.isWord("second") ? digits : List.of();
            if (fields.cuts() && !isWhole(text)) {
                numbers = arguments(List.of(), fields);
            }
            text = fields.read(text);
        }
        TypeSpec type = new TypeSpec(
                name,
                numbers.isEmpty() ? TypeSpec.NONE : numbers.get(0),
                numbers.size() < 2 ? TypeSpec.NONE : numbers.get(1),
                0,
                name.getParserPosition());
        SqlNode literal = SyntaxNodes.text(text, Tokens.position(constant));
        return SyntaxNodes.cast(literal, new SqlDataTypeSpec(type, type.getParserPos()), tokens.positionFrom(start));
    }

    /** The text of the constant interval at the place; empty for other expressions. */
    Optional<String> intervalText() {
        return constant()
                .map(cast -> ((SqlCall) cast).operand(0))
                .map(text -> ((SqlLiteral) text).getValueAs(String.class));
    }

    private List<Integer> precision() {
        return tokens.peek().isSymbol("(")
                        && tokens.peekAt(1).kind() == Kind.INTEGER
                        && tokens.peekAt(2).isSymbol(")")
                ? numbers()
                : List.of();
    }

    private static IntervalFields fields(Lexeme first, Lexeme last) {
        return new IntervalFields(
                IntervalFields.NAMES.indexOf(first.text()), IntervalFields.NAMES.indexOf(last.text()));
    }

    private static boolean isField(Lexeme lexeme) {
        return lexeme.kind() == Kind.WORD && IntervalFields.NAMES.contains(lexeme.text());
    }

    private static boolean isNumber(String text) {
        return text.strip().matches("[+-]?[0-9]*\\.?[0-9]+");
    }

    /** Whether there is nothing smaller in it than a unit. */
    private static boolean isWhole(String text) {
        return text.strip().matches("[+-]?[0-9]+");
    }
}
