module Acme.Shop (total, Item(..)) where
import qualified Data.Map as M
-- | An item.
data Item = Item { name :: String, price :: Int } | Empty
newtype W a = W { un :: a }
type Alias = Int
class Priced a where
  cost :: a -> Int
  cost _ = 0
instance Priced Item where
  cost (Item _ p) = p
total :: [Item] -> Int
total [] = 0
total (x:xs) = cost x + total xs
rate = 2
infixl 6 |+|
a |+| b = a + b
